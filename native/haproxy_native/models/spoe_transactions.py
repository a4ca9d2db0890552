# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import spoe_transaction


class SpoeTransactions(RootModel[list[spoe_transaction.SpoeTransaction]]):
    """The open transactions of one SPOE file."""

    root: list[spoe_transaction.SpoeTransaction]
