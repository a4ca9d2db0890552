"""Report probable mistakes that HAProxy accepts, through the API and on the command line. The checks are declared in checks.toml."""
