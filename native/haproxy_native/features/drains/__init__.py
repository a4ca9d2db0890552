"""Drains: take servers out of service without ending connections, wait until they are idle, then stop or delete them."""
