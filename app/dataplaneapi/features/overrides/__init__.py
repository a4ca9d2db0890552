"""Overrides: members of servers that were changed in the process alone, kept over reloads."""
