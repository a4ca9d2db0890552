"""Overrides: values of servers that are set only in HAProxy's process, and that survive its reloads."""
