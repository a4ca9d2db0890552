"""Tests of where requests go, which changes may be required to pass."""
