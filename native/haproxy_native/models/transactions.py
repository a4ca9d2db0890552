# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import transaction


class Transactions(RootModel[list[transaction.Transaction]]):
    """Those that were not committed."""

    root: list[transaction.Transaction]
