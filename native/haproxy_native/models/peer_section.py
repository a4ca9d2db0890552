# Generated from openapi/ by `make generate`; do not edit.

from . import bind, log_targets, peer_entry, server, table
from .peer_section_base import PeerSectionBase


class PeerSection(PeerSectionBase):
    """A peers section with its entries."""

    binds: dict[str, bind.Bind] | None = None
    """Listeners by name."""
    log_target_list: log_targets.LogTargets | None = None
    """Where logs go."""
    peer_entries: dict[str, peer_entry.PeerEntry] | None = None
    """Peers by name."""
    servers: dict[str, server.Server] | None = None
    """Servers by name."""
    tables: dict[str, table.Table] | None = None
    """Stick tables by name."""
