"""`/metrics`, for Prometheus."""
