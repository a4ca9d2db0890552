"""Listeners and connections, down to the bytes: who is let in, what a request's head may be, deadlines, TLS."""
