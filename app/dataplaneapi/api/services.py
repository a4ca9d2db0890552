"""Define `Services`: the parts of a running server that layers, handlers and features use."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dataplaneapi.api.exchange import Exchange
from dataplaneapi.api.idempotency import Idempotency
from dataplaneapi.api.normalize import ResolvedSchemas
from dataplaneapi.api.operations import RouteIndex
from dataplaneapi.api.responses import Response
from dataplaneapi.auth.bearers import Bearers
from dataplaneapi.auth.gate import Gate
from dataplaneapi.auth.open_streams import OpenStreams
from dataplaneapi.auth.users import Users
from dataplaneapi.settings.proxies import Proxies
from dataplaneapi.settings.roles import Roles
from dataplaneapi.settings.table import Settings
from dataplaneapi.telemetry.audit import Audit
from dataplaneapi.telemetry.counters import Tally
from dataplaneapi.telemetry.traces import Traces
from haproxy_native.acme.agent import Acme
from haproxy_native.discovery.discovery import Discovery
from haproxy_native.disk.directories import Directory
from haproxy_native.editing.editor import Editor
from haproxy_native.engine import Engine
from haproxy_native.history.history import History
from haproxy_native.history.reverting import Reverter
from haproxy_native.operations.operations import Operations
from haproxy_native.references.naming import RenameFollower
from haproxy_native.reload.records import Records
from haproxy_native.spoe.directory import SpoeFiles
from haproxy_native.spoe.editor import ScopeEditor
from haproxy_native.workers.workers import Workers

PublicAnswer = Callable[[Exchange], Response | Awaitable[Response] | None]
UsersOfName = Callable[[str], Awaitable[list[str]]]


@dataclass
class Services:
    """The parts of a running server. `dataplaneapi.assembly` creates them, and the features then extend the lists and dictionaries."""

    settings: Settings
    engine: Engine
    records: Records
    editor: Editor
    users: Users
    gate: Gate
    bearers: Bearers
    streams: OpenStreams
    bundle: Mapping[str, Any]
    index: RouteIndex
    schemas: ResolvedSchemas
    directories: Mapping[str, Directory]
    discovery: Discovery
    acme: Acme
    spoe: SpoeFiles
    scope_editor: ScopeEditor
    workers: Workers
    operations: Operations
    history: History
    reverter: Reverter
    idempotency: Idempotency
    audit: Audit = field(default_factory=lambda: Audit(None))
    proxies: Proxies = field(default_factory=Proxies)
    roles: Roles | None = None
    traces: Traces | None = None
    tally: Tally = field(default_factory=Tally)
    # Functions that answer requests to public paths. They return None for any other request.
    public: list[PublicAnswer] = field(default_factory=list)
    # The features of the server by their class (`api.feature.Feature`), and what they add. The first write option is the outermost.
    features: dict[type[Any], Any] = field(default_factory=dict)
    followers: list[RenameFollower] = field(default_factory=list)
    users_of_names: list[UsersOfName] = field(default_factory=list)
    write_options: list[Any] = field(default_factory=list)
    started: float = field(default_factory=time.time)
