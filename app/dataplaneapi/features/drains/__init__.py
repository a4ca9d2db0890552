"""Drains of servers, and the end of former workers, as operations."""
