"""Routing tests, which check where requests go. Changes may be required to pass them."""
