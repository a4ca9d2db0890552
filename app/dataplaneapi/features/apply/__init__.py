"""Declarations of an owner, applied in one commit."""
