"""Long-running operations, which clients start, poll and cancel."""
