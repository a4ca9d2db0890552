"""`dataplaneapi ctl`, the command-line client. It imports no code of the server, and few modules at its start."""
