"""Overrides: changes of servers in the process that survive reloads and restarts of HAProxy until they are removed."""
