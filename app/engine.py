"""From settings to a running engine: its runtime client, its reload agent, and what the agent tells the engine."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from app.settings import Settings, SettingsError
from native.apply import aftermath
from native.apply.site import Loaded
from native.config import stats_sockets
from native.config.check import CheckSettings
from native.engine import Engine, EngineSettings
from native.errors import BadRequest
from native.reload.agent import ReloadAgent
from native.reload.records import Record, Records
from native.reload.strategies import CustomCommand, MasterSocket, Outcome, Strategy, split_command
from native.runtime.client import Runtime

# What a strategy runs when no command is configured.
COMMANDS = {"systemd": ("sudo -n systemctl reload", "haproxy.service"), "s6": ("s6-svc -2", "/var/run/service/haproxy")}
DELAY_SECONDS = 5.0


class Reloading:
    """Through the master's socket where it answers, else by the operator's command."""

    def __init__(self, runtime: Runtime, command: list[str], *, master_worker_mode: bool) -> None:
        self._runtime, self._master_worker_mode = runtime, master_worker_mode
        self._command = CustomCommand(command) if command else None

    async def run(self) -> Outcome:
        return await self._strategy().run()

    def _strategy(self) -> Strategy:
        master = self._runtime.master if self._command else self._runtime.configured_master
        if self._master_worker_mode and master is not None:
            return MasterSocket(master)
        assert self._command is not None
        return self._command


class Host:
    """What the agent needs of an engine while HAProxy reads the file, and after."""

    def __init__(self, engine: Engine, settings: Settings) -> None:
        self._engine, self._settings = engine, settings
        self._now: Loaded | None = None

    @asynccontextmanager
    async def loading(self) -> AsyncIterator[tuple[Any, str, int]]:
        async with self._engine.site.loading() as self._now:
            yield self._now.document, self._now.fingerprint, self._now.version

    async def loaded(self, document: Any, mark: str) -> None:
        assert self._now is not None
        use_sockets(self._engine, self._settings, document)
        await aftermath.succeeded(self._engine.site, self._now)

    async def refused(self, record: Record) -> int | None:
        assert self._now is not None
        return await aftermath.failed(self._engine.site, self._now)


def engine_settings(settings: Settings) -> EngineSettings:
    return EngineSettings(
        file=Path(settings.config_file),
        storage=Path(settings.dataplane_storage_dir),
        transactions=Path(settings.transaction_dir),
        max_open_transactions=settings.max_open_transactions,
        backups=Path(settings.backups_dir) if settings.backups_dir else None,
        backups_number=settings.backups_number,
        check=CheckSettings(
            binary=settings.haproxy_bin,
            command=settings.validate_cmd,
            before=tuple(settings.validate_files_before),
            after=tuple(settings.validate_files_after),
        ),
        watch=not settings.disable_inotify,
    )


def use_sockets(engine: Engine, settings: Settings, document: Any) -> None:
    """From now on the runtime client chooses among the sockets that this document opens."""
    engine.runtime.use(settings.master_runtime or None, stats_sockets.addresses(document))


def reload_command(settings: Settings) -> list[str]:
    """The words of the reload command; none where only the master's socket is left. Raises SettingsError."""
    text = settings.reload_cmd
    if not text and settings.reload_strategy in COMMANDS:
        words, service = COMMANDS[settings.reload_strategy]
        text = f"{words} {settings.service_name or service}"
    if settings.reload_strategy not in ("custom", *COMMANDS):
        raise SettingsError(f"invalid reload strategy: '{settings.reload_strategy}'")
    if text:
        try:
            return split_command(text)
        except BadRequest as error:
            raise SettingsError(f"reload_cmd: {error}") from None
    if not (settings.master_worker_mode and settings.master_runtime):
        text = "the custom reload strategy requires these options to be set: ReloadCmd"
        raise SettingsError(f"{text}; or master_runtime with master_worker_mode, to reload through the master's socket")
    return []


def reload_delay(settings: Settings, override: str | None) -> float:
    """Seconds; the override is in milliseconds, for tests of whole installations."""
    if override is None:
        return float(settings.reload_delay) or DELAY_SECONDS
    return int(override) / 1000 if override.isdigit() and int(override) else DELAY_SECONDS


@asynccontextmanager
async def open_engine(settings: Settings) -> AsyncIterator[Engine]:
    """A started engine; at the end what is pending is carried out."""
    runtime = Runtime()
    strategy = Reloading(runtime, reload_command(settings), master_worker_mode=settings.master_worker_mode)
    records = Records(Path(settings.dataplane_storage_dir) / "reloads", settings.reload_retention)
    delay = reload_delay(settings, os.environ.get("CI_DATAPLANE_RELOAD_DELAY_OVERRIDE"))
    agents: list[ReloadAgent] = []

    def agent(engine: Engine) -> ReloadAgent:
        agents.append(ReloadAgent(strategy, runtime, delay, records, Host(engine, settings)))
        return agents[0]

    # The engine asks the worker at once what it has loaded, so the sockets are looked for first; one attempt, no waiting.
    await runtime.connect(settings.master_runtime or None, stats_sockets.addresses_in(Path(settings.config_file)), 0)
    engine = Engine(engine_settings(settings), runtime, agent)
    await engine.start()
    use_sockets(engine, settings, engine.document)
    try:
        yield engine
    finally:
        await agents[0].close()
        await engine.close()
