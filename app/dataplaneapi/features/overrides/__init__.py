"""Overrides: members of servers that were changed in the process alone, and that survive reloads."""
