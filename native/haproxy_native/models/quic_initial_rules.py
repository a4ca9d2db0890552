# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import quic_initial_rule


class QuicInitialRules(RootModel[list[quic_initial_rule.QuicInitialRule]]):
    root: list[quic_initial_rule.QuicInitialRule]
