"""Puts the parts of the server together: `create_app` joins them, `opened` opens and closes them."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import cache, partial
from typing import Any

from dataplaneapi.acme_agent import acme
from dataplaneapi.api.application import Application
from dataplaneapi.api.call_store import CallStore
from dataplaneapi.api.idempotency import Idempotency
from dataplaneapi.api.normalize import Schemas
from dataplaneapi.api.operations import operations
from dataplaneapi.api.router import RouteIndex
from dataplaneapi.api.services import Services
from dataplaneapi.auth.bearers import Bearers
from dataplaneapi.auth.gate import Gate
from dataplaneapi.auth.open_streams import OpenStreams
from dataplaneapi.auth.tokens import Tokens
from dataplaneapi.auth.users import Users
from dataplaneapi.did_you_mean import Guide, object_places
from dataplaneapi.handlers import docs, ui
from dataplaneapi.handlers.sidecar import confirmations
from dataplaneapi.handlers.sidecar import events as event_stream
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
from haproxy_native.apply.apply import Apply
from haproxy_native.apply.owners import OwnerTable
from haproxy_native.apply.plans import Plans
from haproxy_native.confirmations.confirmations import Confirmations
from haproxy_native.confirmations.guard import Watch
from haproxy_native.confirmations.ledger import Confirmation
from haproxy_native.discovery.discovery import Discovery
from haproxy_native.drains.drain import DRAIN
from haproxy_native.drains.drains import Drains
from haproxy_native.drift.drift import Drift
from haproxy_native.editing.editor import Editor
from haproxy_native.editing.secrets import masked_object
from haproxy_native.engine import Engine
from haproxy_native.event_stream.events import EventSources
from haproxy_native.event_stream.fanout import Fanout
from haproxy_native.event_stream.stream import CONFIRMATION, OPERATION
from haproxy_native.explain.explain import Explain
from haproxy_native.grammar.load import Grammar, bundle, grammar
from haproxy_native.history.history import History
from haproxy_native.history.journal import Limits
from haproxy_native.history.reading import entry_of_request
from haproxy_native.history.returning import SPOE, Returning
from haproxy_native.operations.operations import Operation, Operations
from haproxy_native.operations.reload import RELOAD, reload
from haproxy_native.overrides.overrides import Overrides
from haproxy_native.routing.gate import RoutingGate
from haproxy_native.routing.routing_tests import RoutingTests
from haproxy_native.routing.table import KIND, TestTable
from haproxy_native.splits.splits import Splits
from haproxy_native.spoe.editor import ScopeEditor
from haproxy_native.workers.ending import END_WORKER, Ending
from haproxy_native.workers.workers import BACKENDS, FRONTENDS, Workers

DAY = 86400.0


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Application]:
    """The application of an engine of these settings, both started. Raises SettingsError, NoUsers, NativeError and OSError."""
    async with open_engine(settings) as engine:
        app = create_app(settings, engine)
        async with app.router.lifespan_context(app):
            yield app


@asynccontextmanager
async def lifespan(app: Application) -> AsyncIterator[None]:
    """Runs what works beside requests."""
    services = app.services
    try:
        migrate(services.settings, services.discovery)
        async with AsyncExitStack() as parts:
            for part in _parts(services):
                await parts.enter_async_context(part)
            yield
    finally:
        services.audit.close()
        if services.traces:
            services.traces.close()


def _parts(services: Services) -> Sequence[AbstractAsyncContextManager[Any]]:
    """Returns the parts in the order in which they start, without those that only change things if the server is read-only."""
    watching = (services.history, services.events, services.explain)
    if services.settings.read_only:
        return *watching, services.discovery, services.operations, services.bearers
    changing = (services.confirmations, services.discovery, services.acme, services.overrides, services.operations)
    return *watching, *changing, services.bearers


def create_app(settings: Settings, engine: Engine) -> Application:
    """The whole application, with the module of every handler imported. Raises NoUsers and MissingHandler."""
    document = bundle()
    users = Users(settings, lambda: engine.read(None))
    bearers = Bearers(users, Tokens(engine.database), read_jwt(settings.jwt, settings.role_of))
    language = grammar() if settings.time_suffix == "nearest" else Grammar(time_suffix=settings.time_suffix)
    named = directories(settings)
    editor, workers = Editor(language), Workers(engine)
    overrides = Overrides(engine, editor)
    drains, ending = Drains(engine, editor, workers, overrides), Ending(workers)
    tests = TestTable(engine.context, engine.database)
    history = History(engine.context, editor, engine.database, _limits(settings), {KIND: tests.content})
    spoe = spoe_files(settings, engine, editor, named["spoe_dir"])
    explain = Explain(engine, editor)
    returning = Returning(history, engine, {SPOE: spoe, KIND: tests}, overrides.set_back)
    events = EventSources(engine, editor)
    watch = Watch(lambda: workers.statistics_in_service(FRONTENDS | BACKENDS))

    def rights_of(group: str, name: str) -> Rights | None:
        return services.bearers.rights_now(services.roles, group, name)

    works = {RELOAD: reload(engine.reloads), DRAIN: drains.work, END_WORKER: ending.work}
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
        schemas=Schemas(document["components"]["schemas"], document["x-longest-text"]),
        audit=Audit(read_audit(settings.audit)),
        proxies=read_proxies(settings.trusted_proxies),
        roles=read_roles(settings.roles, settings.role_of, settings.users, settings.userlist),
        traces=traces.from_environment(os.environ),
        directories=named,
        acme=acme(engine, editor, settings.acme_programs),
        discovery=Discovery(engine, editor, named["dataplane_storage_dir"], rights_of),
        spoe=spoe,
        scope_editor=ScopeEditor(language),
        workers=workers,
        ending=ending,
        drains=drains,
        overrides=overrides,
        idempotency=Idempotency(CallStore(engine.database), partial(entry_of_request, history)),
        drift=Drift(engine, editor, overrides),
        explain=explain,
        tests=RoutingTests(tests, explain),
        splits=Splits(engine, editor, workers),
        plans=Plans(engine.database),
        apply=Apply(engine, editor, OwnerTable(engine.database), lambda id_: services.confirmations.lasts(id_)),
        operations=Operations(
            engine.database,
            works,
            changed=lambda change: _publish(events, change),
            rights_of=rights_of,
            resumes=not settings.read_only,
        ),
        events=events,
        fanout=Fanout(events.stream, event_stream.form, event_stream.HEARTBEAT_SECONDS),
        history=history,
        returning=returning,
        confirmations=Confirmations(
            engine.context, history, returning, engine.database, lambda new: _publish_confirmation(events, new), watch
        ),
    )
    _listen(services)
    engine.context.observers.add(RoutingGate(services.tests, engine.settings.file.parent, lambda: services.settings.tests == "require"))
    return Application(
        services, lambda exchange: docs.page(exchange) or ui.page(exchange, is_on=not services.settings.disable_ui), lifespan
    )


@cache
def route_index() -> RouteIndex:
    """Returns the index of the operations, with their handlers imported. Raises MissingHandler."""
    document = bundle()
    index = RouteIndex(operations(document), Guide(document["paths"], object_places(document)))
    for operation in index.operations:
        operation.load()
    return index


def _listen(services: Services) -> None:
    events = services.engine.context.events
    events.listen(services.tally.heard)
    events.listen(services.audit.heard)
    events.listen(partial(_follow_users, services))
    if services.traces:
        events.listen(services.traces.heard)


def _follow_users(services: Services, _: object) -> None:
    """Closes the streams of callers who are no users any more, or have another password, where the configuration has the users."""
    generation = services.users.generation
    services.users.refresh()
    if services.users.generation != generation:
        services.streams.review(services.roles)


def _limits(settings: Settings) -> Limits:
    return Limits(max(1, settings.history_entries), settings.history_days * DAY, settings.history_size << 20)


def _publish_confirmation(events: EventSources, confirmation: Confirmation) -> None:
    events.stream.publish(
        CONFIRMATION, f"confirmation/{confirmation.id}", masked_object(confirmations.as_dict(confirmation), "confirmation")
    )


def _publish(events: EventSources, operation: Operation) -> None:
    events.stream.publish(OPERATION, f"operation/{operation.id}", masked_object(as_dict(operation), "operation"))
