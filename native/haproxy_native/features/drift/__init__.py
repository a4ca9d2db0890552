"""Drift: differences between the file, the configuration that HAProxy has loaded, and the worker in service, object by object."""
