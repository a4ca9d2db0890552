"""What HAProxy does with a request, and which lines decide it."""
