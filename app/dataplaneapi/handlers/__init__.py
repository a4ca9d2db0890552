"""The handlers of the operations. A handler converts between HTTP and the engine (`haproxy_native`), which does the work."""
