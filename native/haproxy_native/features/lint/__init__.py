"""Checks for probable mistakes in a configuration that HAProxy accepts, declared in checks.toml."""
