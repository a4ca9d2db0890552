"""The names and types of a configuration's sections; they stand in the stub beside this file, made from the declarations."""


class Sections:
    """Base of `Configuration`."""
