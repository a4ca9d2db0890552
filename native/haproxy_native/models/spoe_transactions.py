# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import spoe_transaction


class SpoeTransactions(RootModel[list[spoe_transaction.SpoeTransaction]]):
    root: list[spoe_transaction.SpoeTransaction]
