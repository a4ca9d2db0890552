"""The server: FastAPI handlers over `haproxy_native`, and the process around them."""
