"""Splits: divide traffic between backends in percent, by a stored map that is changed at runtime without a reload."""
