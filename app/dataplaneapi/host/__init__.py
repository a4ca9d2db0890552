"""The machine the server runs on: the service manager, HAProxy's master as parent, credentials, mounts."""
