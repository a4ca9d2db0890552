"""Listeners and connections: admission, limits on a request's head, deadlines, TLS."""
