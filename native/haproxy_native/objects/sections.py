"""The names and types of a configuration's sections. They are in the stub `sections.pyi`, which is generated from the declarations."""


class Sections:
    """Base of `Configuration`."""
