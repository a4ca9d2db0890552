"""Overrides: values of servers that were changed in the process only, and survive reloads."""
