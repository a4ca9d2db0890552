# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import peer_section


class PeerSections(RootModel[list[peer_section.PeerSection]]):
    root: list[peer_section.PeerSection]
