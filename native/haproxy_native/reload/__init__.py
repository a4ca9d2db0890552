"""Reloads of HAProxy: when, how, and with which outcome."""
