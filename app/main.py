"""`create_app`: the one place where the parts of the server meet."""

import os

from app import traces
from app.acme import acme
from app.directories import directories
from app.engine import own_directory
from app.guidance import Guide
from app.handlers.docs import page
from app.operations import operations
from app.pipeline import Pipeline
from app.routes import RouteIndex
from app.security import Gate
from app.settings import Settings
from app.shape import Schemas
from app.sidecar import Sidecar
from app.spoe import spoe_files
from app.users import Users
from native.config.editor import Editor
from native.discovery.discovery import Discovery
from native.engine import Engine
from native.grammar.load import Grammar, bundle, grammar
from native.spoe.editor import ScopeEditor


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
