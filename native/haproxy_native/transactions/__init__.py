"""Private states of the configuration until they are committed."""
