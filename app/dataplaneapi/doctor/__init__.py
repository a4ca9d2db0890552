"""Find problems of an installation, and how to repair them (`dataplaneapi doctor`)."""
