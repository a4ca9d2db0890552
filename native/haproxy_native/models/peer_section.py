# Generated from openapi/ by `make generate`; do not edit.

from . import bind, log_targets, peer_entry, server, table
from .peer_section_base import PeerSectionBase


class PeerSection(PeerSectionBase):
    binds: dict[str, bind.Bind] | None = None
    log_target_list: log_targets.LogTargets | None = None
    peer_entries: dict[str, peer_entry.PeerEntry] | None = None
    servers: dict[str, server.Server] | None = None
    tables: dict[str, table.Table] | None = None
