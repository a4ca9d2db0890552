"""Traffic divided between backends by shares of a hundred, in a stored map that is changed at runtime without a reload."""
