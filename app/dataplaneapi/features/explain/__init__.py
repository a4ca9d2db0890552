"""Explain how HAProxy would handle a request, by sending it to a shadow HAProxy with the same rules."""
