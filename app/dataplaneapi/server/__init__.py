"""Serve the API on listeners: accept connections, limit the heads of requests, set deadlines, and use TLS."""
