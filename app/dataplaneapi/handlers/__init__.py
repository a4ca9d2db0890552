"""The operations of the API, in terms of the engine; no handler imports another."""
