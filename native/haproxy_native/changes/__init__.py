"""Changes of a configuration as values: what is done to its objects and texts, and what is expected of it. Pure."""
