# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import confirmation


class Confirmations(RootModel[list[confirmation.Confirmation]]):
    """Those that wait, and the last ones that did."""

    root: list[confirmation.Confirmation]
