# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import spoe_agent


class SpoeAgents(RootModel[list[spoe_agent.SpoeAgent]]):
    """All agents of one scope."""

    root: list[spoe_agent.SpoeAgent]
