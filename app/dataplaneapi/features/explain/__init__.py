"""Where a request would go, asked of a HAProxy of its own that has the same rules."""
