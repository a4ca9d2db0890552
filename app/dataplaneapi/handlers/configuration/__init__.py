"""`/v3/services/haproxy/configuration` and `/v3/services/haproxy/transactions`."""
