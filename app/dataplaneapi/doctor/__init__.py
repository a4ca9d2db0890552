"""Find problems of an installation, and show how to repair them (`dataplaneapi doctor`)."""
