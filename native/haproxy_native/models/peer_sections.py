# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import peer_section


class PeerSections(RootModel[list[peer_section.PeerSection]]):
    """All such sections."""

    root: list[peer_section.PeerSection]
