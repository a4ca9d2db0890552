"""Store transactions: drafts of the configuration that take effect when they are committed."""
