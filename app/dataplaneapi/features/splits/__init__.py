"""Traffic divided between backends by shares."""
