"""What an engine's commits work with, made of its settings."""

from haproxy_native.commit.context import CommitContext, Planner
from haproxy_native.commit.current import TABLES, Current, StateRow
from haproxy_native.commit.events import Events
from haproxy_native.commit.ledger import Ledger
from haproxy_native.commit.running import Running, TextRows
from haproxy_native.disk.backups import Backups
from haproxy_native.disk.database import Database
from haproxy_native.disk.files import ConfigFiles
from haproxy_native.editing import header
from haproxy_native.engine_settings import EngineSettings
from haproxy_native.planning import plan as planning
from haproxy_native.reload.agent import ReloadAgent
from haproxy_native.runtime.client import Runtime
from haproxy_native.storage.stores import Stores
from haproxy_native.transactions.store import TABLES as TRANSACTIONS
from haproxy_native.transactions.transactions import Transactions


def context_of(
    settings: EngineSettings, runtime: Runtime, reloads: ReloadAgent, stores: Stores, database: Database, plan: Planner | None = None
) -> CommitContext:
    """Nothing is read yet."""
    database.declare(TABLES, *TRANSACTIONS)
    row = StateRow(database, "haproxy.cfg", is_kept=not settings.read_only)
    stamp = header.with_short_header if settings.short_header else header.with_header
    files = ConfigFiles(settings.file, settings.storage, settings.before, settings.after)
    current = Current(files, row, stamp, edited=lambda *edit: context.edited(*edit))
    events = Events()
    context = CommitContext(
        current=current,
        running=Running(
            current, runtime, row, TextRows(database, settings.last_good, settings.file, is_kept=not settings.read_only), events
        ),
        transactions=Transactions(
            database,
            settings.transactions,
            settings.file,
            settings.max_open_transactions,
            stamp=stamp,
            make=not settings.read_only,
            ttl=0.0 if settings.read_only else settings.transaction_ttl,
        ),
        backups=Backups(settings.file, settings.backups_number, settings.backups),
        check=settings.check,
        runtime=runtime,
        database=database,
        plan=plan or _planner(settings, stores),
        reloads=reloads,
        ledger=Ledger(database, settings.storage),
        stores=stores,
        events=events,
        read_only=settings.read_only,
    )
    return context


def _planner(settings: EngineSettings, stores: Stores) -> Planner:
    preceded, stored = bool(settings.check.before), stores.naming(settings.file.parent)
    return lambda running, new, capabilities, observed: planning.plan(
        running, new, capabilities, preceded=preceded, stored=stored, observed=observed
    )
