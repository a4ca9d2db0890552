"""A fleet: one release of haproxy.cfg for several nodes, which agree on it through a store."""
