# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import spoe_message


class SpoeMessages(RootModel[list[spoe_message.SpoeMessage]]):
    """All messages of one scope."""

    root: list[spoe_message.SpoeMessage]
