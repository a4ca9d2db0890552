"""When HAProxy is reloaded, how, and what became of it."""
