"""`dataplaneapi ctl`, the client for the command line: it imports nothing of the server, and little at its start."""
