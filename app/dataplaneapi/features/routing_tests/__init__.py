"""Routing tests, which check how HAProxy handles requests. The settings, or a client, can require that a change passes the tests."""
