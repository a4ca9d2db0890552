"""Tests of where requests go, which changes may have to pass."""
