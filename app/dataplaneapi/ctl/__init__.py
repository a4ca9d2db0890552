"""`dataplaneapi ctl`, the command-line client. It imports no code of the server, and only few modules when it starts."""
