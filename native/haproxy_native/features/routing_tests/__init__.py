"""Routing tests: requests with an expected outcome, run against a shadow HAProxy. Stored tests can be required to pass for each change."""
