"""Changes of a configuration as values: operations on objects and texts, and the conditions for their commit."""
