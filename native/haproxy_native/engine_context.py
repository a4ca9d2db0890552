"""What an engine's commits work with, made of its settings."""

from haproxy_native.commit.context import CommitContext, Planner
from haproxy_native.commit.current import Current
from haproxy_native.commit.ledger import Ledger
from haproxy_native.commit.loads import Loads
from haproxy_native.commit.running import Running
from haproxy_native.commit.state_file import StateFile
from haproxy_native.disk.backups import Backups
from haproxy_native.disk.files import ConfigFiles
from haproxy_native.editing import header
from haproxy_native.engine_settings import EngineSettings
from haproxy_native.planning import plan as planning
from haproxy_native.reload.agent import ReloadAgent
from haproxy_native.runtime.client import Runtime
from haproxy_native.storage.stores import Stores
from haproxy_native.transactions.transactions import Transactions


def context_of(
    settings: EngineSettings, runtime: Runtime, reloads: ReloadAgent, stores: Stores, plan: Planner | None = None
) -> CommitContext:
    """Nothing is read yet."""
    state_file = StateFile(settings.storage / "engine.json")
    stamp = header.with_short_header if settings.short_header else header.with_header
    files = ConfigFiles(settings.file, settings.storage, settings.before, settings.after)
    current = Current(files, state_file, stamp, edited=lambda *edit: context.edited(*edit))
    loads = Loads(settings.storage / "loads", settings.file)
    context = CommitContext(
        current=current,
        running=Running(current, runtime, state_file, settings.copy, loads, keeps_copy=not settings.read_only),
        transactions=Transactions(
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
        state_file=state_file,
        plan=plan or _planner(settings, stores),
        reloads=reloads,
        ledger=Ledger(settings.storage),
        stores=stores,
        read_only=settings.read_only,
    )
    return context


def _planner(settings: EngineSettings, stores: Stores) -> Planner:
    preceded, stored = bool(settings.check.before), stores.naming(settings.file.parent)
    return lambda running, new, capabilities, observed: planning.plan(
        running, new, capabilities, preceded=preceded, stored=stored, observed=observed
    )
