# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import quic_initial_rule


class QuicInitialRules(RootModel[list[quic_initial_rule.QuicInitialRule]]):
    """All of one section, in order."""

    root: list[quic_initial_rule.QuicInitialRule]
