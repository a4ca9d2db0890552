"""Traffic divided between backends by shares of a hundred, in a stored map that changes at once and without a reload."""
