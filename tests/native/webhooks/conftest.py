"""Fixtures of the tests of webhooks."""

from tests.databases import closed_databases

__all__ = ["closed_databases"]
