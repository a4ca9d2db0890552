"""HAProxy configuration as text, grammar and transactions, and the HAProxy process behind it.

It knows nothing of HTTP and needs no other package of the project; docs/library.md shows its use.
"""
