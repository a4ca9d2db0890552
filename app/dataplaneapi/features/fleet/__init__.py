"""A fleet: one release of haproxy.cfg for several nodes."""
