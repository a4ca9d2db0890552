"""`/v3/services/haproxy/runtime` and `/v3/services/haproxy/stats`: the running process."""
