# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import AwareDatetime, StrictInt, StrictStr

from . import effect, history_reload


class HistoryEntry(Model):
    """A change that was made, or one that was asked for and refused."""

    id: StrictStr
    """Number of the entry, by which later ones are greater."""
    parent: StrictStr | None = None
    """Id of the entry before it."""
    time: AwareDatetime
    """When it was made."""
    version: StrictInt | None = None
    """That of the configuration afterwards."""
    kind: Literal['configuration', 'file', 'runtime'] | None = None
    """What was changed."""
    outcome: Literal['live', 'scheduled', 'reloaded', 'taken_back', 'written', 'runtime', 'outside', 'refused']
    """What became of it; taken_back: the reload failed, and it was rolled back; written: only the file has it; scheduled: a reload is pending."""
    summary: StrictStr | None = None
    """What was changed."""
    reload_id: StrictStr | None = None
    """Id of the reload that it needed."""
    reload: history_reload.HistoryReload | None = None
    author: StrictStr | None = None
    """User, name in a certificate, or what changes things by itself; outside for others."""
    owner: StrictStr | None = None
    """Owner of the file that others have edited."""
    address: StrictStr | None = None
    """Address of the client."""
    request_id: StrictStr | None = None
    """Id of the request."""
    message: StrictStr | None = None
    """What the client has said with X-Change-Message."""
    cause: StrictStr | None = None
    """What it acts on, as in revert/17."""
    objects: list[StrictStr]
    """Names of what it touched."""
    effects: list[effect.Effect] | None = None
    """Members with their values before and after."""
    diff: StrictStr | None = None
    """Difference of the texts."""
    reason: StrictStr | None = None
    """Why it was refused."""
