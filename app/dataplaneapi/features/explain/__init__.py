"""Explain where a request would go, by sending it to a shadow HAProxy with the same rules."""
