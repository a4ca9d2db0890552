"""Background operations that drain servers and end former workers."""
