"""Store files for HAProxy, and apply their changes to the running process."""
