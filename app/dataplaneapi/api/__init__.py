"""The HTTP layer: it routes a request, checks and converts its parameters and body, calls the handler, and sends the response or error."""
