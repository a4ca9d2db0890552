"""Find problems of an installation, each with its remedy: `dataplaneapi check` and `dataplaneapi doctor`.

`check` covers only the settings and the configuration. Neither command changes anything or needs a running server.
"""

import asyncio
import json
import logging
import os
import pwd
import re
import shutil
import socket
import stat
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

from dataplaneapi.auth import passwords
from dataplaneapi.auth.users import NoUsers, Users
from dataplaneapi.doctor import repair as settings_repair
from dataplaneapi.doctor import units
from dataplaneapi.doctor.finding import ERROR, NOTE, OK, WARNING, DoctorFinding
from dataplaneapi.doctor.units import programs
from dataplaneapi.feature_list import modules
from dataplaneapi.host import credentials, mounts
from dataplaneapi.open_engine import config_files, engine_settings, haproxy_unit, reload_command, unconfined
from dataplaneapi.server.endpoint import endpoints
from dataplaneapi.settings.audit import COLLECTOR, AuditSettings, read_audit
from dataplaneapi.settings.directories import directories, unusable
from dataplaneapi.settings.jwt import JwtSettings, read_jwt
from dataplaneapi.settings.packages import EXTRAS
from dataplaneapi.settings.table import Settings, SettingsError
from dataplaneapi.version import VERSION
from haproxy_native import open_engine, sandbox
from haproxy_native.acme.providers import EXEC, Exec, ProviderFailed
from haproxy_native.check.check import CheckSettings, check
from haproxy_native.check.run import haproxy_environment
from haproxy_native.editing.editor import standard_editor
from haproxy_native.editing.header import same_text, without_banner
from haproxy_native.errors import NativeError, RuntimeFailure, Unreadable
from haproxy_native.quirks import is_supported, lacking
from haproxy_native.runtime.capabilities import ADMIN
from haproxy_native.runtime.client import NEVER_FOUND, Runtime
from haproxy_native.runtime.master import Master
from haproxy_native.runtime.socket import parse_address
from haproxy_native.runtime.working_directory import WorkingDirectory
from haproxy_native.text.document import Document
from haproxy_native.units import PLACES, unit

UNIT_USER = "dataplaneapi"
# An error in HAProxy's output at a start.
_ALERT = re.compile(r"^\[ALERT\]\s*(?:\(\d+\) : )?(.*)$", re.MULTILINE)
OFTEN_WANTED = ("metrics", "aws", "acme")


def report(settings: Settings, command: str, *, as_json: bool = False, fix: bool = False) -> int:
    """Print the findings and return the exit status, which is 1 if one is an error.

    With `fix`, write corrected settings next to the file.
    """
    # Suppress the log lines of the code that the checks call, because the findings report the same.
    logging.getLogger().addHandler(logging.NullHandler())
    rows = list(findings(settings) if command == "doctor" else essentials(settings))
    if fix:
        rows.append(write_fixed_settings(settings.file))
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
    else:
        print(*rows, sep="\n")
    return int(any(row.level == ERROR for row in rows))


def write_fixed_settings(file: str) -> DoctorFinding:
    """Write corrected settings next to a settings file, which may be invalid. Return a finding that says what was done."""
    try:
        written = settings_repair.write_beside(Path(file))
    except OSError as error:
        return DoctorFinding(ERROR, "fix", f"{error.filename or file}: {error.strerror}")
    if written is None:
        return DoctorFinding(OK, "fix", f"nothing in {file} can be corrected automatically")
    beside, difference = written
    return DoctorFinding(NOTE, "fix", f"corrected settings are in {beside}:\n{difference}", f"mv {beside} {file}")


def essentials(settings: Settings) -> Iterator[DoctorFinding]:
    """Yield the findings about the settings and the configuration."""
    yield from _check_settings(settings)
    yield from _check_configuration(settings)


def findings(settings: Settings, places: Sequence[Path] = PLACES) -> Iterator[DoctorFinding]:
    """Yield all findings. `places` are the directories with systemd units, the one that takes precedence first."""
    yield DoctorFinding(OK, "server", f"dataplaneapi {VERSION}")
    yield from _check_rights()
    yield from _check_settings(settings)
    yield from _check_programs(settings, places)
    yield from _check_acme(settings)
    yield from _check_binary(settings)
    yield from _check_configuration(settings)
    yield from _check_file(Path(settings.config_file))
    yield from _check_users(settings)
    yield from _check_listeners(settings, places)
    yield from _check_units(settings, places)
    yield from _check_directories(settings)
    yield from _check_sockets(settings)
    yield from _check_reloads(settings)
    for module in modules("doctor"):
        yield from module.findings(settings)
    yield from _check_issuer(settings)
    yield from _check_audit(settings)
    yield from _check_extras()


def _check_rights() -> Iterator[DoctorFinding]:
    """Yield a note if root runs the doctor, because root has more permissions than the user of the service."""
    with suppress(KeyError):
        if os.geteuid() == 0 and pwd.getpwnam(UNIT_USER):
            what = f"run by root: checks that succeed here may fail for {UNIT_USER}, the user of the unit"
            yield DoctorFinding(NOTE, "server", what, f"runuser -u {UNIT_USER} -- dataplaneapi doctor")


def _check_settings(settings: Settings) -> Iterator[DoctorFinding]:
    for warning in settings.warnings:
        yield DoctorFinding(WARNING, "settings", warning)
    file = Path(settings.file) if settings.file else None
    if file is None or not file.exists():
        yield DoctorFinding(NOTE, "settings", f"there is no settings file{f' {file}' if file else ''}; flags and defaults are used")
    elif settings.users and stat.S_IMODE(file.stat().st_mode) & 0o077:
        yield DoctorFinding(WARNING, "settings", f"{file} contains passwords, and others may read it", f"chmod 600 {file}")
    else:
        yield DoctorFinding(OK, "settings", f"{file}")


def _check_programs(settings: Settings, places: Sequence[Path]) -> Iterator[DoctorFinding]:
    for program in programs(settings, places):
        if program.path:
            yield DoctorFinding(OK, "programs", f"{program.path} {program.use}")
        else:
            yield DoctorFinding(ERROR, "programs", f"{program.name} cannot be run: it {program.use}", program.remedy)


def _check_acme(settings: Settings) -> Iterator[DoctorFinding]:
    """Yield an error for each `acme` section whose challenges will fail because its program is not in `acme_programs`."""
    try:
        document = Document.parse(config_files(settings).read())
    except Unreadable:
        return
    editor = standard_editor()
    for section in editor.list_objects(document, editor.resources["acme"]):
        try:
            if section.get("acme_provider") == EXEC:
                Exec(section.get("acme_vars", {}), settings.acme_programs)
        except ProviderFailed as error:
            yield DoctorFinding(ERROR, "acme", f"acme {section['name']}: {error}", "name the program in dataplaneapi.acme_programs")


def _check_binary(settings: Settings) -> Iterator[DoctorFinding]:
    binary = shutil.which(settings.haproxy_bin)
    if binary is None:
        return
    version = _version(binary)
    if not is_supported(version):
        yield DoctorFinding(ERROR, "haproxy", f"{binary} is too old, or reports no version", "HAProxy 2.6 or later is supported")
        return
    yield DoctorFinding(OK, "haproxy", f"{binary}, version {version[0]}.{version[1]}")
    yield _check_sandbox(settings)
    for lack in lacking(version):
        yield DoctorFinding(NOTE, "haproxy", f"needs HAProxy {lack.since[0]}.{lack.since[1]}: {lack.what}. Before it: {lack.instead}")


def _check_sandbox(settings: Settings) -> DoctorFinding:
    """Return a finding about the sandbox in which HAProxy checks a configuration."""
    if lacks := unconfined(settings):
        return DoctorFinding(WARNING, "sandbox", "; ".join(lacks), "docs/security.md, Checks and explanations are confined")
    return DoctorFinding(OK, "sandbox", f"haproxy -c is confined by Landlock, version {sandbox.version()}, and by a filter of system calls")


def _version(binary: str) -> tuple[int, int]:
    try:
        output = subprocess.run(
            [binary, "-v"], env=haproxy_environment(os.environ, ()), capture_output=True, text=True, timeout=20, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return (0, 0)
    match = re.search(r"version (\d+)\.(\d+)", output)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _check_configuration(settings: Settings) -> Iterator[DoctorFinding]:
    file, files = settings.config_file, config_files(settings)
    try:
        document = Document.parse(files.read())
    except Unreadable as error:
        remedy = "name the right file in haproxy.config_file, or give this user the right to read it"
        yield DoctorFinding(ERROR, "configuration", error.detail, remedy)
        return
    asked = CheckSettings(
        settings.haproxy_bin, settings.validate_cmd, tuple(settings.validate_files_before), tuple(settings.validate_files_after)
    )
    try:
        messages = asyncio.run(check(files.checked(document), asked, home=asyncio.run(_working_directory(settings))))
    except NativeError as error:
        yield DoctorFinding(ERROR, "configuration", f"{file}: {error}", "changes are refused until this is fixed")
        return
    yield DoctorFinding(OK, "configuration", f"{file} is valid")
    for message in messages:
        yield DoctorFinding(NOTE, "configuration", f"HAProxy: {message.text}")


async def _working_directory(settings: Settings) -> Path | None:
    """Return HAProxy's working directory; None if it is unknown."""
    runtime, worker = Runtime(timeout=5), None
    open_engine.use_sockets(runtime, settings.master_runtime or None, config_files(settings))
    with suppress(RuntimeFailure):
        worker = await runtime.worker()
    return WorkingDirectory(haproxy_unit(settings)).find(worker)


def _check_file(file: Path) -> Iterator[DoctorFinding]:
    """Yield findings about how changes are written to the configuration file, and what prevents that."""
    if not file.exists():
        return
    if file.is_symlink():
        yield DoctorFinding(OK, "file", f"{file} is a symbolic link; changes replace its target: {file.resolve()}")
    mount = mounts.mount_of(file.resolve())
    if mount.point == file.resolve():
        remedy = "this is safe; if you mount the directory instead, each change is one rename"
        yield DoctorFinding(NOTE, "file", f"{file} is a mount of its own: it is written in place, with a journal", remedy)
    if mount.kind in mounts.VOLATILE:
        yield DoctorFinding(WARNING, "file", f"{mount.point} is a {mount.kind}: the configuration is lost when the machine restarts")
    for trouble in mounts.refused_writes(file.resolve()):
        yield DoctorFinding(ERROR, "file", trouble, "give this user write access to the file, or better to its directory")


def _check_users(settings: Settings) -> Iterator[DoctorFinding]:
    def document() -> Document:
        return Document.parse(Path(settings.config_file).read_bytes())

    try:
        users = list(Users(_with_unit_users(settings), document))
    except (NoUsers, OSError) as error:
        yield DoctorFinding(ERROR, "users", str(error), "add a user below dataplaneapi.user, or a userlist to the configuration")
        return
    if not users and credentials.UNIT_USERS.is_file() and not os.access(credentials.UNIT_USERS, os.R_OK):
        yield DoctorFinding(NOTE, "users", f"this user may not read {credentials.UNIT_USERS}, which the unit passes to the server")
        return
    if not users:
        remedy = f"add a user below dataplaneapi.user, or a userlist {settings.userlist} to the configuration"
        yield DoctorFinding(ERROR, "users", "there are no users of the API", remedy)
        return
    useless = [user.name for user in users if not user.clear and not passwords.is_usable(user.password)]
    if useless:
        what = f"no login is possible as {', '.join(useless)}: the password counts as a hash, but libcrypt does not support its method"
        remedy = "hash it (openssl passwd -5), or mark it as clear text: insecure-password in a userlist, insecure: true in the settings"
        yield DoctorFinding(ERROR if len(useless) == len(users) else WARNING, "users", what, remedy)
    if len(useless) < len(users):
        yield DoctorFinding(OK, "users", f"{len(users) - len(useless)}")
    if plain := sorted(str(user.get("name")) for user in settings.users if user.get("insecure")):
        remedy = "replace it by a hash (openssl passwd -5), without insecure: true"
        yield DoctorFinding(WARNING, "users", f"the password of {', '.join(plain)} is stored in clear text", remedy)


def _check_listeners(settings: Settings, places: Sequence[Path]) -> Iterator[DoctorFinding]:
    try:
        wanted = endpoints(settings)
    except SettingsError as error:
        yield DoctorFinding(ERROR, "listeners", str(error))
        return
    for endpoint in wanted if not units.is_wanted(units.OUR_SOCKETS, places) else ():
        if endpoint.scheme != "unix" and not endpoint.port:
            key = "dataplaneapi.tls.tls_port" if endpoint.scheme == "https" else "dataplaneapi.port"
            yield DoctorFinding(
                WARNING, "listeners", f"{endpoint.scheme} gets another port at each start", f"set one: {key}: {settings_repair.PORT}"
            )


def _check_units(settings: Settings, places: Sequence[Path]) -> Iterator[DoctorFinding]:
    """Yield findings for other servers of this API, and for paths in /tmp that a service with a private /tmp cannot see."""
    for former in units.other_servers(places):
        if units.is_wanted(former.name, places) or units.is_active_or_starting(former.name):
            what = f"{former.path} starts another server of this API, {' '.join(former.command)}: both change the same configuration"
            yield DoctorFinding(WARNING, "units", what, f"systemctl disable --now {former.name}")
    for name in (units.OURS, units.HAPROXY):
        service = unit(name, places)
        for place in _needed_below_tmp(settings) if service and service.has_own_tmp else ():
            remedy = f"move it elsewhere, or PrivateTmp=no: systemctl edit {name}"
            yield DoctorFinding(ERROR, "units", f"{name} has a private /tmp (PrivateTmp=), so it cannot see {place}", remedy)


def _needed_below_tmp(settings: Settings) -> list[str]:
    named = [settings.config_file, settings.haproxy_bin, settings.master_runtime, *open_engine.stats_sockets_in(config_files(settings))]
    named += [
        settings.maps_dir,
        settings.acl_dir,
        settings.ssl_certs_dir,
        settings.general_storage_dir,
        settings.spoe_dir,
        settings.backups_dir,
    ]
    named += [*settings.reload_cmd.split(), *settings.validate_cmd.split()]
    return sorted({place for place in named if place and place.startswith(("/tmp/", "/var/tmp/"))})


def _with_unit_users(settings: Settings) -> Settings:
    """Return the settings with the file of users that the unit passes to the service, if this user can read the file."""
    there = credentials.UNIT_USERS.is_file() and os.access(credentials.UNIT_USERS, os.R_OK) and credentials.UNIT_USERS.stat().st_size
    return replace(settings, userlist_file=str(credentials.UNIT_USERS)) if there and not settings.userlist_file else settings


def _belongs_to_unit(path: Path) -> bool:
    """Return whether root runs the doctor and the user of the service owns a path.

    Such a path is unusable for root but not for the service.
    """
    with suppress(KeyError, OSError):
        return os.geteuid() == 0 and path.stat().st_uid == pwd.getpwnam(UNIT_USER).pw_uid
    return False


def _check_directories(settings: Settings) -> Iterator[DoctorFinding]:
    named = [directory for directory in directories(settings).values() if not _belongs_to_unit(directory.path)]
    troubles = unusable(named)
    for trouble in troubles:
        what, _, remedy = trouble.rpartition("; ")
        yield DoctorFinding(ERROR, "directories", what, remedy)
    if not troubles:
        yield DoctorFinding(OK, "directories", "all can be used")


def _check_sockets(settings: Settings) -> Iterator[DoctorFinding]:
    stats = open_engine.stats_sockets_in(config_files(settings))
    if not settings.master_runtime and not stats:
        remedy = "start haproxy with -S, name that socket in haproxy.master_runtime, and add a stats socket with level admin"
        yield DoctorFinding(ERROR, "sockets", "no socket of HAProxy is known: every change needs a reload", remedy)
        return
    failure = None
    if settings.master_runtime:
        yield asyncio.run(_check_socket("master's socket", settings.master_runtime, ()))
        failure = asyncio.run(_failure_of_last_reload(settings.master_runtime))
        if failure is not None:
            yield _failed_reload_finding(settings, failure)
    else:
        remedy = "start haproxy with -S PATH and name it in haproxy.master_runtime: it survives reloads, and reports their outcome"
        yield DoctorFinding(NOTE, "sockets", "no master socket is named", remedy)
    for address in stats:
        if failure is not None and _has_no_listener(address):
            what = f"worker's socket: nothing listens on {address} any more: the worker that did not start had replaced it"
            remedy = "the next successful reload opens it again; until then, this server uses the master's socket"
            yield DoctorFinding(WARNING, "sockets", what, remedy)
        else:
            yield asyncio.run(_check_socket("worker's socket", None, (address,)))


async def _failure_of_last_reload(master: str) -> str | None:
    """Return why HAProxy's last reload failed, as HAProxy reported it; None if it succeeded, or if the master does not answer."""
    process = Master(master, timeout=5)
    try:
        found = (await process.processes()).master
        if found is None or not found.failed:
            return None
        log = await process.startup_log()
    except RuntimeFailure:
        return None
    # The first error is the cause of the others.
    return next((alert[1].rstrip(".") for alert in _ALERT.finditer(log)), "the reason is in HAProxy's log")


def _failed_reload_finding(settings: Settings, failure: str) -> DoctorFinding:
    """Return the finding of a failed reload: a warning if the file has the running text again, otherwise an error."""
    what = f"the last reload failed: {failure}. The former worker still runs"
    if _is_restored(settings):
        remedy = "the server has put the text that HAProxy runs back into the file; the next successful reload ends this warning"
        return DoctorFinding(WARNING, "reloads", what, remedy)
    remedy = f"remove this cause, or HAProxy cannot start with {settings.config_file} after a reboot; then reload: dataplaneapi ctl reload"
    return DoctorFinding(ERROR, "reloads", what, remedy)


def _is_restored(settings: Settings) -> bool:
    """Return whether the configuration file has the text that HAProxy has loaded last, apart from the header."""
    good = engine_settings(settings).last_good
    try:
        return good is not None and same_text(
            *(without_banner(Document.parse(file.read_bytes())) for file in (Path(settings.config_file), good))
        )
    except OSError:
        return False


def _has_no_listener(address: str) -> bool:
    """Return whether a Unix socket exists that nobody listens on."""
    place = parse_address(address)
    if place is None or not place.path:
        return False
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(place.path)
        except ConnectionRefusedError:
            return True
        except OSError:
            return False
    return False


async def _check_socket(kind: str, master: str | None, stats: Sequence[str]) -> DoctorFinding:
    runtime = Runtime(timeout=5)
    runtime.use(master, stats)
    try:
        capabilities = await runtime.refresh()
    except RuntimeFailure as error:
        remedy = "start haproxy, and let this user's group reach the socket: mode 660, group haproxy"
        if not master and any(map(_has_no_listener, stats)):
            remedy = "start haproxy. If it runs, its last reload has failed: correct what its log names, then reload it"
        return DoctorFinding(ERROR, "sockets", f"{kind}: {str(error).removeprefix(f'{NEVER_FOUND}: ')}", remedy)
    if capabilities.level != ADMIN:
        level = f"{kind} {runtime.address} is of level {capabilities.level}"
        return DoctorFinding(ERROR, "sockets", level, "give the stats socket `level admin`")
    version = ".".join(map(str, capabilities.version))
    return DoctorFinding(OK, "sockets", f"{kind} {runtime.address}, HAProxy {version}")


def _check_reloads(settings: Settings) -> Iterator[DoctorFinding]:
    try:
        command = reload_command(settings)
    except SettingsError as error:
        yield DoctorFinding(ERROR, "reloads", str(error))
        return
    way = "the master socket" if settings.master_worker_mode and settings.master_runtime else " ".join(command)
    yield DoctorFinding(OK, "reloads", f"by {way}")


def _check_issuer(settings: Settings) -> Iterator[DoctorFinding]:
    if jwt := read_jwt(settings.jwt, settings.role_of):
        trouble = issuer_trouble(jwt)
        yield DoctorFinding(
            WARNING if trouble else OK, "jwt", trouble or f"{jwt.issuer} lists its keys", "JWTs are refused" if trouble else ""
        )


def _check_audit(settings: Settings) -> Iterator[DoctorFinding]:
    if audit := read_audit(settings.audit):
        trouble = audit_trouble(audit)
        remedy = "until this is fixed, a limited number of lines waits in memory; further lines are lost" if trouble else ""
        yield DoctorFinding(ERROR if trouble else OK, "audit", trouble or f"{audit.path or 'syslog'} can be written", remedy)


def _check_extras() -> Iterator[DoctorFinding]:
    for name in OFTEN_WANTED:
        if EXTRAS[name].is_missing:
            yield DoctorFinding(NOTE, "extras", f"not installed: {name}", EXTRAS[name].remedy)


def issuer_trouble(settings: JwtSettings) -> str:
    """Return why the keys of an issuer of JWTs cannot be fetched, or an empty text if they can. Blocks for at most FETCH_SECONDS."""
    # Imported here, because it needs the extra `oidc`.
    from dataplaneapi.auth.issuer import FETCH_SECONDS, KeysFailed, fetch, usable

    async def fetch_keys() -> None:
        async with asyncio.timeout(FETCH_SECONDS):
            usable(await fetch(settings))

    try:
        asyncio.run(fetch_keys())
    except KeysFailed as error:
        return str(error)
    except TimeoutError:
        return f"{settings.jwks or settings.issuer} does not answer within {FETCH_SECONDS:g} seconds"
    return ""


def audit_trouble(settings: AuditSettings, collector: str = COLLECTOR) -> str:
    """Return why this user cannot write the audit log, or an empty text if it can. Does not write to the log."""
    return _collector_trouble(collector) if settings.path is None else _file_trouble(settings.path)


def _collector_trouble(path: str) -> str:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
        try:
            end.connect(path)
        except OSError as error:
            return f"nothing reads {path}: {error.strerror}"
    return ""


def _file_trouble(path: Path) -> str:
    """Return why a log file cannot be written, or an empty text if it can. The server can create the file and its directories."""
    try:
        there = os.lstat(path)
    except FileNotFoundError:
        above = next(parent for parent in path.parents if parent.exists())
        return "" if above.is_dir() and os.access(above, os.W_OK | os.X_OK) else f"{path} cannot be created: {above} is not writable"
    except OSError as error:
        return f"{path}: {error.strerror}"
    if not stat.S_ISREG(there.st_mode):
        return f"{path} is not a regular file; symbolic links are not followed"
    return "" if os.access(path, os.W_OK) else f"{path} cannot be written"
