"""The native layer: HAProxy configuration as text, grammar and transactions, and the HAProxy process behind it.

It knows nothing of HTTP and works without the `app` package; see docs/architecture.md.
"""
