"""Open an engine from the settings, with its runtime client and its reload strategy."""

import logging
import os
import shlex
import shutil
import stat
import tempfile
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from dataplaneapi.settings.directories import directories, log_unusable
from dataplaneapi.settings.table import Settings, SettingsError
from haproxy_native import sandbox
from haproxy_native.check.check import CheckSettings
from haproxy_native.disk.directories import Directory
from haproxy_native.disk.files import ConfigFiles
from haproxy_native.engine import Engine, EngineSettings
from haproxy_native.errors import BadRequest, Unusable
from haproxy_native.open_engine import Process, opened, use_sockets
from haproxy_native.reload.strategies import split_command
from haproxy_native.runtime.client import Runtime

logger = logging.getLogger(__name__)
# The default command of each reload strategy, and its default service.
HAPROXY_UNIT = "haproxy.service"
COMMANDS = {"systemd": ("sudo -n systemctl reload", HAPROXY_UNIT), "s6": ("s6-svc -2", "/var/run/service/haproxy")}
DELAY_SECONDS = 5.0
# The setting for the directory of each store.
STORES = {
    "maps": "maps_dir",
    "acls": "acl_dir",
    "general": "general_storage_dir",
    "ssl_certificates": "ssl_certs_dir",
    "ssl_crt_lists": "ssl_certs_dir",
}
STORED = ("cluster.json", "service_discovery/consul.json", "service_discovery/aws.json")


def engine_settings(settings: Settings) -> EngineSettings:
    named = directories(settings)
    return EngineSettings(
        file=Path(settings.config_file),
        before=tuple(settings.config_files_before),
        after=tuple(settings.config_files_after),
        storage=own_directory(settings),
        unit=haproxy_unit(settings),
        transactions=Path(settings.transaction_dir),
        max_open_transactions=settings.max_open_transactions,
        transaction_ttl=settings.transaction_ttl,
        backups=Path(settings.backups_dir) if settings.backups_dir else None,
        backups_number=settings.backups_number,
        short_header=settings.short_header,
        read_only=settings.read_only,
        check=CheckSettings(
            binary=settings.haproxy_bin,
            command=settings.validate_cmd,
            before=tuple(settings.validate_files_before),
            after=tuple(settings.validate_files_after),
        ),
        watch=not settings.disable_inotify,
        map_sync=float(settings.update_map_files_period) if settings.update_map_files else 0.0,
        directories={store: named[setting] for store, setting in STORES.items() if setting in named},
    )


def own_directory(settings: Settings) -> Path:
    """Return the directory of the engine's data, which is in the directory that the reference implementation uses for its own files."""
    return Path(settings.dataplane_storage_dir) / "engine"


def prepare_storage(storage: Directory) -> None:
    """Create the files that the reference implementation expects in its storage directory. They are empty, which means no data.

    Raises Unusable.
    """
    with storage.used() as directory:
        (directory / "service_discovery").mkdir(mode=0o750, exist_ok=True)
        for name in STORED:
            # The file may contain passwords, tokens and keys, so only this user may access it. That includes a file that exists already.
            file = directory / name
            file.touch(mode=0o600)
            status = file.stat()
            if status.st_uid == os.geteuid() and stat.S_IMODE(status.st_mode) & 0o077:
                file.chmod(0o600)


def reload_command(settings: Settings) -> list[str]:
    """Return the words of the reload command. Empty if HAProxy is reloaded through the master's socket. Raises SettingsError."""
    text = settings.reload_cmd
    if settings.reload_strategy not in ("custom", *COMMANDS):
        raise SettingsError(f"invalid reload strategy: '{settings.reload_strategy}'")
    if not text and settings.reload_strategy in COMMANDS:
        words, service = COMMANDS[settings.reload_strategy]
        text = f"{words} {settings.service_name or service}"
    if text:
        try:
            return split_command(text)
        except BadRequest as error:
            raise SettingsError(f"reload_cmd: {error}") from None
    if not (settings.master_worker_mode and settings.master_runtime):
        text = "the custom reload strategy requires these options to be set: ReloadCmd"
        raise SettingsError(f"{text}; or master_runtime with master_worker_mode, to reload through the master's socket")
    return []


def status_command(settings: Settings) -> list[str]:
    """Return the words of the command whose exit status tells whether HAProxy runs. Empty if the settings have no such command.

    Raises ValueError for an unclosed quote.
    """
    if settings.status_cmd:
        return shlex.split(settings.status_cmd)
    service = settings.service_name
    return {
        "systemd": ["systemctl", "--quiet", "is-active", service or HAPROXY_UNIT],
        "s6": ["s6-svstat", "-u", service or "/var/run/service/haproxy"],
    }.get(settings.reload_strategy, [])


def haproxy_unit(settings: Settings) -> str:
    """Return the name of the systemd unit that starts HAProxy. The unit may not exist."""
    name = settings.service_name or HAPROXY_UNIT
    return name if "." in name else f"{name}.service"


def reload_delay(settings: Settings, override: str | None) -> float:
    """Return the reload delay in seconds. `override`: the delay in milliseconds for tests of whole installations; None to use the setting.

    Returns DELAY_SECONDS if the override is not a number above 0, and if the setting is 0.
    """
    if override is None:
        return float(settings.reload_delay) or DELAY_SECONDS
    return int(override) / 1000 if override.isdigit() and int(override) else DELAY_SECONDS


def unconfined(settings: Settings) -> list[str]:
    """Return a message for each gap in the confinement of `haproxy -c`, and for each thing that the confinement prevents."""
    if settings.validate_cmd:
        return ["validate_cmd is not confined: it checks texts of clients with all permissions of this user"]
    lacks = [f"{settings.haproxy_bin} -c is not confined: {lack}" for lack in sandbox.missing_confinement()]
    with suppress(OSError), open(shutil.which(settings.haproxy_bin) or "", "rb") as program:
        if program.read(2) == b"#!":
            cannot = "it cannot use sudo, reach containers, or write files"
            lacks.append(f"{settings.haproxy_bin} is a script, and confined as HAProxy is: {cannot}")
    return lacks


def warn_if_unconfined(settings: Settings) -> None:
    for lack in unconfined(settings):
        logger.warning("%s", lack)


def warn_if_loadable(places: Iterable[Path]) -> None:
    """Log a warning if Lua can load a library from any of the directories `places`, to which clients or checks write.

    The doctor cannot check this: the unit mounts these directories noexec in its own namespace (`NoExecPaths=`).
    """
    loadable = sorted({str(place) for place in places if place.is_dir() and not os.statvfs(place).f_flag & os.ST_NOEXEC})
    if loadable:
        logger.warning(
            "Lua in a checked text can load a library from %s, which stays confined; mount these directories noexec", ", ".join(loadable)
        )


def config_files(settings: Settings) -> ConfigFiles:
    before, after = settings.config_files_before, settings.config_files_after
    return ConfigFiles(settings.config_file, own_directory(settings), before, after)


def look_for_sockets(runtime: Runtime, settings: Settings) -> None:
    """Make the runtime client choose its socket again, from the master's socket in the settings and the sockets in the configuration."""
    use_sockets(runtime, settings.master_runtime or None, config_files(settings), haproxy_unit(settings))


def process(settings: Settings) -> Process:
    """Return the settings by which the engine reaches and reloads HAProxy's process. Raises SettingsError."""
    return Process(
        master=settings.master_runtime or None,
        master_reloads=settings.master_worker_mode,
        command=reload_command(settings),
        delay=reload_delay(settings, os.environ.get("CI_DATAPLANE_RELOAD_DELAY_OVERRIDE")),
        remembered_days=settings.reload_retention,
    )


@asynccontextmanager
async def open_engine(settings: Settings) -> AsyncIterator[Engine]:
    """Yield an engine that is started while the body runs. Pending work is finished at the end. Raises SettingsError and Unreadable."""
    how, named = process(settings), directories(settings)
    warn_if_unconfined(settings)
    with suppress(Unusable):
        if not settings.read_only:
            prepare_storage(named["dataplane_storage_dir"])
    log_unusable(named.values())
    if not settings.validate_cmd:
        warn_if_loadable([Path(tempfile.gettempdir()), *(directory.path for directory in named.values())])
    async with opened(engine_settings(settings), how) as engine:
        yield engine
