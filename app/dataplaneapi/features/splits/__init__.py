"""Splits: the traffic of a frontend, divided between several backends by shares."""
