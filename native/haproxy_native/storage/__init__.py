"""Stored files, and their changes in the running process."""
