"""Commit changes to the file and the process, and store what this server knows about both. Every change goes through this package."""
