# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import token


class Tokens(RootModel[list[token.Token]]):
    """Those that are neither revoked nor expired."""

    root: list[token.Token]
