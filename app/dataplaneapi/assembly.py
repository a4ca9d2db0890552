"""Assemble the server: `create_app` creates and connects its parts, and `open_application` starts and stops them."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache, partial

from dataplaneapi.acme_agent import acme
from dataplaneapi.api import probes
from dataplaneapi.api.application import Application
from dataplaneapi.api.idempotency import CallStore, Idempotency
from dataplaneapi.api.normalize import ResolvedSchemas
from dataplaneapi.api.operations import RouteIndex, operations, served_document
from dataplaneapi.api.services import Services
from dataplaneapi.api.write_options import Wait
from dataplaneapi.auth.bearers import Bearers
from dataplaneapi.auth.gate import Gate
from dataplaneapi.auth.open_streams import OpenStreams
from dataplaneapi.auth.tokens import Tokens
from dataplaneapi.auth.users import Users
from dataplaneapi.did_you_mean import Guide, object_places
from dataplaneapi.feature_list import installed
from dataplaneapi.handlers import docs
from dataplaneapi.handlers.sidecar.operations import as_dict
from dataplaneapi.open_engine import open_engine
from dataplaneapi.settings.audit import read_audit
from dataplaneapi.settings.directories import directories
from dataplaneapi.settings.jwt import read_jwt
from dataplaneapi.settings.migration import migrate
from dataplaneapi.settings.proxies import read_proxies
from dataplaneapi.settings.roles import read_roles
from dataplaneapi.settings.table import Settings
from dataplaneapi.spoe_files import spoe_files
from dataplaneapi.telemetry import traces
from dataplaneapi.telemetry.audit import Audit
from haproxy_native.access.rights import Rights
from haproxy_native.commit.events import Announced
from haproxy_native.discovery.discovery import Discovery
from haproxy_native.editing.editor import Editor
from haproxy_native.editing.secrets import masked_object
from haproxy_native.engine import Engine
from haproxy_native.grammar.load import Grammar, grammar
from haproxy_native.history.history import History
from haproxy_native.history.journal import Limits
from haproxy_native.history.reading import entry_of_request
from haproxy_native.history.reverting import SPOE, Reverter
from haproxy_native.operations.operations import OPERATION, RELOAD, BackgroundOperation, Operations, reload_work
from haproxy_native.spoe.editor import ScopeEditor
from haproxy_native.workers.workers import Workers

DAY = 86400.0


@asynccontextmanager
async def open_application(settings: Settings) -> AsyncIterator[Application]:
    """Yield an application that is started, together with its engine, while the body runs.

    Raises SettingsError, NoUsers, NativeError and OSError.
    """
    async with open_engine(settings) as engine:
        app = create_app(settings, engine)
        async with app.router.lifespan_context(app):
            yield app


@asynccontextmanager
async def lifespan(app: Application) -> AsyncIterator[None]:
    """Run the background parts of the application while the body runs."""
    services, is_read_only = app.services, app.services.settings.read_only
    # A read-only server has none of the parts that only make changes.
    features = [part for feature in services.features.values() if not (feature.only_changes and is_read_only) for part in feature.runs]
    acting = [services.discovery] if is_read_only else [services.discovery, services.acme]
    try:
        migrate(services.settings, services.discovery)
        async with AsyncExitStack() as running:
            for part in (services.history, *features, *acting, services.operations, services.bearers):
                await running.enter_async_context(part)
            yield
    finally:
        # Closing may block until the collector of the audit log or of the traces has accepted the last records.
        await asyncio.to_thread(services.audit.close)
        if services.traces:
            await asyncio.to_thread(services.traces.close)


def create_app(settings: Settings, engine: Engine) -> Application:
    """Create the application, and import the modules of all handlers.

    Raises NoUsers, and MissingHandler for an operation without a handler.
    """
    users = Users(settings, lambda: engine.read(None))
    bearers = Bearers(users, Tokens(engine.database), read_jwt(settings.jwt, settings.role_of))
    language = grammar() if settings.time_suffix == "nearest" else Grammar(time_suffix=settings.time_suffix)
    named, document = directories(settings), served_document()
    editor = Editor(language)
    limits = Limits(max(1, settings.history_entries), settings.history_days * DAY, settings.history_size << 20)
    history = History(engine.context, engine.database, limits)
    spoe = spoe_files(settings, engine, editor, named["spoe_dir"])

    def rights_of(group: str, name: str) -> Rights | None:
        return services.bearers.rights_now(services.roles, group, name)

    def announce_operation(operation: BackgroundOperation) -> None:
        data = masked_object(as_dict(operation), OPERATION)
        engine.context.events.publish(Announced(OPERATION, f"{OPERATION}/{operation.id}", data))

    services = Services(
        settings=settings,
        engine=engine,
        records=engine.reloads.records,
        editor=editor,
        users=users,
        gate=Gate(users, bearers=bearers),
        bearers=bearers,
        streams=OpenStreams(bearers),
        bundle=document,
        index=route_index(),
        schemas=ResolvedSchemas(document["components"]["schemas"], document["x-longest-text"]),
        audit=Audit(read_audit(settings.audit)),
        proxies=read_proxies(settings.trusted_proxies),
        roles=read_roles(settings.roles, settings.role_of, settings.users, settings.userlist),
        traces=traces.from_environment(os.environ),
        directories=named,
        acme=acme(engine, editor, settings.acme_programs),
        discovery=Discovery(engine, editor, named["dataplane_storage_dir"], rights_of),
        spoe=spoe,
        scope_editor=ScopeEditor(language),
        workers=Workers(engine),
        idempotency=Idempotency(CallStore(engine.database), partial(entry_of_request, history)),
        operations=Operations(
            engine.database,
            {RELOAD: reload_work(engine.reloads)},
            changed=announce_operation,
            rights_of=rights_of,
            resumes=not settings.read_only,
        ),
        history=history,
        reverter=Reverter(history, engine, {SPOE: spoe}),
        write_options=[Wait()],
    )
    services.public += [partial(probes.answer, services), docs.page]
    for kind in installed():
        feature = services.features[kind] = kind(services)
        services.public += feature.public
        services.write_options += feature.write_options
        services.followers += feature.followers
        services.users_of_names += feature.users_of_names
        for work, does in feature.works.items():
            services.operations.add_kind(work, does)
    events = engine.context.events
    events.listen(services.tally.on_event)
    events.listen(services.audit.on_event)
    events.listen(partial(_close_streams_of_changed_users, services))
    if services.traces:
        events.listen(services.traces.on_event)
    return Application(services, lifespan)


@cache
def route_index() -> RouteIndex:
    """Return the index of all operations, with their handlers imported. Raises MissingHandler for an operation without a handler."""
    document = served_document()
    index = RouteIndex(operations(document), Guide(document["paths"], object_places(document)))
    for operation in index.operations:
        operation.load()
    return index


def _close_streams_of_changed_users(services: Services, _: object) -> None:
    """Close the streams of users that were removed or whose password has changed.

    Called after each event, because any event may have changed a userlist.
    """
    generation = services.users.generation
    services.users.refresh()
    if services.users.generation != generation:
        services.streams.review(services.roles)
