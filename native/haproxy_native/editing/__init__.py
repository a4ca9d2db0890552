"""Documents edited object by object. Pure."""
