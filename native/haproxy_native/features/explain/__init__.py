"""Explain what HAProxy does with a request, and which lines decide it, by sending the request to a shadow HAProxy."""
