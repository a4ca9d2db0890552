"""Drift: differences between the file, the loaded configuration and the current worker."""
