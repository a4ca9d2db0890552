"""Splits: traffic divided between backends by shares."""
