"""Checks for probable mistakes that HAProxy accepts: as an operation of the server, and for files (`dataplaneapi lint`)."""
