"""Routing tests: requests with an expected outcome, run by a shadow HAProxy, stored by name, and required of changes."""
