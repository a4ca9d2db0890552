"""Run shadows: further HAProxy processes with the same rules on private sockets, to find out what HAProxy does with a request."""
