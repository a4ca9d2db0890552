"""Authenticate callers by passwords, tokens, JWTs and client certificates. Every request passes the gate (`gate.py`)."""
