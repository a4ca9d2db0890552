"""`/v3/services/haproxy/spoe`: SPOE files, their scopes, agents, messages and groups."""
