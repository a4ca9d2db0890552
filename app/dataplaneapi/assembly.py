"""`create_app`: the one place where the parts of the server meet."""

import os

from dataplaneapi.acme_agent import acme
from dataplaneapi.api.normalize import Schemas
from dataplaneapi.api.operations import operations
from dataplaneapi.api.pipeline import Pipeline
from dataplaneapi.api.router import RouteIndex
from dataplaneapi.api.services import Sidecar
from dataplaneapi.auth.gate import Gate
from dataplaneapi.auth.users import Users
from dataplaneapi.did_you_mean import Guide
from dataplaneapi.handlers.docs import page
from dataplaneapi.open_engine import own_directory
from dataplaneapi.settings.directories import directories
from dataplaneapi.settings.table import Settings
from dataplaneapi.spoe_files import spoe_files
from dataplaneapi.telemetry import traces
from haproxy_native.discovery.discovery import Discovery
from haproxy_native.editing.editor import Editor
from haproxy_native.engine import Engine
from haproxy_native.grammar.load import Grammar, bundle, grammar
from haproxy_native.spoe.editor import ScopeEditor


def create_app(settings: Settings, engine: Engine) -> Pipeline:
    """The whole application."""
    document = bundle()
    declared = tuple(operations(document))
    users = Users(settings, lambda: engine.read(None))
    language = grammar() if settings.time_suffix == "nearest" else Grammar(time_suffix=settings.time_suffix)
    named = directories(settings)
    editor = Editor(language)
    sidecar = Sidecar(
        settings=settings,
        engine=engine,
        records=engine.reloads.records,
        editor=editor,
        users=users,
        gate=Gate(users),
        bundle=document,
        index=RouteIndex(declared, Guide(document["paths"])),
        schemas=Schemas(document["components"]["schemas"], document["x-longest-text"]),
        traces=traces.from_environment(os.environ),
        directories=named,
        acme=acme(engine, editor),
        discovery=Discovery(engine, editor, named["dataplane_storage_dir"], own_directory(settings) / "discovered.json"),
        spoe=spoe_files(settings, engine, editor, named["spoe_dir"]),
        scope_editor=ScopeEditor(language),
    )
    engine.site.events.listen(sidecar.tally.heard)
    if sidecar.traces:
        engine.site.events.listen(sidecar.traces.heard)
    return Pipeline(sidecar, page)
