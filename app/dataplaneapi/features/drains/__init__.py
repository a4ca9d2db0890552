"""Background operations that drain servers and end old workers."""
