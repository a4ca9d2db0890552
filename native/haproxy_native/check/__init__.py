"""Check a configuration: run `haproxy -c` confined, and parse its messages."""
