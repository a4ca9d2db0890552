"""The parts of a running server that its handlers use."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.routes import RouteIndex
from app.security import Gate
from app.settings import Settings
from app.shape import Schemas
from app.tally import Tally
from app.traces import Traces
from app.users import Users
from native.acme.agent import Acme
from native.config.directories import Directory
from native.config.editor import Editor
from native.discovery.discovery import Discovery
from native.engine import Engine
from native.reload.records import Records
from native.spoe.directory import SpoeFiles
from native.spoe.editor import ScopeEditor


@dataclass
class Sidecar:
    settings: Settings
    engine: Engine
    records: Records
    editor: Editor
    users: Users
    gate: Gate
    bundle: Mapping[str, Any]
    index: RouteIndex
    schemas: Schemas
    directories: Mapping[str, Directory]
    discovery: Discovery
    acme: Acme
    spoe: SpoeFiles
    scope_editor: ScopeEditor
    traces: Traces | None = None
    tally: Tally = field(default_factory=Tally)
    started: float = field(default_factory=time.time)
