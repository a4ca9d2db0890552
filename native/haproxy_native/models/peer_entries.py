# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import peer_entry


class PeerEntries(RootModel[list[peer_entry.PeerEntry]]):
    """All of one section, in order."""

    root: list[peer_entry.PeerEntry]
