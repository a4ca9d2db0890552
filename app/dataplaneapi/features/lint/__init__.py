"""Checks for what HAProxy accepts and an operator would not want, on the server and for files (`dataplaneapi lint`)."""
