"""What HAProxy does with a request, and which lines decide it, as a shadow HAProxy shows it."""
