"""A second HAProxy with the same rules, of private sockets alone, that is asked what it does with a request."""
