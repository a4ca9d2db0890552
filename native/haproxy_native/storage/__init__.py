"""Stored files, and how the worker gets to know what they hold."""
