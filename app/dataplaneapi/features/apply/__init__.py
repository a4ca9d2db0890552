"""Declarations of an owner, made so in one commit."""
