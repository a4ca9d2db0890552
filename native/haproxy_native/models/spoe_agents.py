# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import spoe_agent


class SpoeAgents(RootModel[list[spoe_agent.SpoeAgent]]):
    root: list[spoe_agent.SpoeAgent]
