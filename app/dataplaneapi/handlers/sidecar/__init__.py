"""`/v3/sidecar`: what this server offers beyond the Data Plane API."""
