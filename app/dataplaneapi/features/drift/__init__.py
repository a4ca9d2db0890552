"""Drift: where the file, the loaded configuration and the worker in service differ."""
