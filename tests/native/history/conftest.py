"""Fixtures of the tests of the history."""

from tests.databases import closed_databases

__all__ = ["closed_databases"]
