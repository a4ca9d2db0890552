"""Drains: servers are taken out of service without ending connections, watched until they are idle, then stopped, deleted or cut."""
