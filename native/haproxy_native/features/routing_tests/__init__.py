"""Tests of routing: requests with what is to become of them, run by a shadow, kept by name, and required of changes."""
