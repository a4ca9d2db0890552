"""`haproxy -c`: run confined, and its messages read."""
