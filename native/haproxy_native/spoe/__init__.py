"""SPOE files: scopes, objects, versions and transactions."""
