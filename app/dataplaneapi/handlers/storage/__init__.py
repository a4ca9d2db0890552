"""`/v3/services/haproxy/storage`: stored maps, certificates, lists and general files."""
