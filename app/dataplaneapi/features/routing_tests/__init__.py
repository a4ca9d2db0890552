"""Routing tests, which check where requests go. The settings or a client can require that a change passes the tests."""
