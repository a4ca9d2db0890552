# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import open_transaction


class OpenTransactions(RootModel[list[open_transaction.OpenTransaction]]):
    """The last used first."""

    root: list[open_transaction.OpenTransaction]
