"""Drift: differences between the configuration file, the configuration that HAProxy has loaded, and the state of its current worker."""
