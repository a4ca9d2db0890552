# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import override


class Overrides(RootModel[list[override.Override]]):
    """Those that are kept, then those of others."""

    root: list[override.Override]
