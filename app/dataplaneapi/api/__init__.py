"""A request on its way to its handler and back: routes, parameters, bodies, responses, errors."""
