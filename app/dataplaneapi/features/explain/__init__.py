"""Where a request would go, as a shadow HAProxy with the same rules shows it."""
