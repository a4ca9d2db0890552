"""Interact with the machine: the service manager, HAProxy's master as parent process, credentials, mounts, and the server's own process."""
