"""Metrics for Prometheus, at `/metrics`."""
