"""Commit changes to the file and the process, and store the known state of both. Every change goes through this package."""
