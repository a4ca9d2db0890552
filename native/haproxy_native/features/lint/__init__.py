"""What in a configuration is probably a mistake, though HAProxy accepts it: checks, each declared in checks.toml."""
