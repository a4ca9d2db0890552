"""Find problems of an installation, and their remedies: `dataplaneapi check` and `dataplaneapi doctor`.

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
from dataplaneapi.settings import directories as settings_directories
from dataplaneapi.settings.audit import COLLECTOR, AuditSettings, read_audit
from dataplaneapi.settings.jwt import JwtSettings, read_jwt
from dataplaneapi.settings.packages import EXTRAS
from dataplaneapi.settings.table import Settings, SettingsError
from dataplaneapi.version import VERSION
from haproxy_native import open_engine, sandbox
from haproxy_native.acme.providers import EXEC, Exec, ProviderFailed
from haproxy_native.check.check import CheckSettings, check
from haproxy_native.check.messages import Message
from haproxy_native.check.run import haproxy_environment
from haproxy_native.editing.editor import standard_editor
from haproxy_native.editing.header import same_text, without_banner
from haproxy_native.errors import NativeError, RuntimeFailure, Unreadable
from haproxy_native.quirks import is_supported, lacks_of
from haproxy_native.runtime.capabilities import ADMIN
from haproxy_native.runtime.client import NEVER_FOUND, Runtime
from haproxy_native.runtime.master import Master
from haproxy_native.runtime.socket import parse_address
from haproxy_native.runtime.working_directory import WorkingDirectory
from haproxy_native.text.document import Document
from haproxy_native.units import PLACES, read_unit

UNIT_USER = "dataplaneapi"
# An error in HAProxy's output at a start.
_ALERT = re.compile(r"^\[ALERT\]\s*(?:\(\d+\) : )?(.*)$", re.MULTILINE)
OFTEN_WANTED = ("metrics", "aws", "acme")


def report(settings: Settings, command: str, *, as_json: bool = False, fix: bool = False) -> int:
    """Print the findings of a command, `check` or `doctor`. Return the exit status: 1 if a finding is an error, otherwise 0.

    With `fix`, also write corrected settings next to the settings file.
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
    """Write corrected settings next to the settings file, even if the settings are invalid. Return a finding with the result."""
    try:
        written = settings_repair.write_corrected(Path(file))
    except OSError as error:
        return DoctorFinding(ERROR, "fix", f"{error.filename or file}: {error.strerror}")
    if written is None:
        return DoctorFinding(OK, "fix", f"nothing in {file} can be corrected automatically")
    corrected, difference = written
    return DoctorFinding(NOTE, "fix", f"corrected settings are in {corrected}:\n{difference}", f"mv {corrected} {file}")


def essentials(settings: Settings) -> Iterator[DoctorFinding]:
    """Yield the findings about the settings and the configuration."""
    yield from check_settings(settings)
    yield from check_configuration(settings)


def findings(settings: Settings, directories: Sequence[Path] = PLACES) -> Iterator[DoctorFinding]:
    """Yield all findings. `directories`: the directories with systemd units, those with higher precedence first."""
    yield DoctorFinding(OK, "server", f"dataplaneapi {VERSION}")
    with suppress(KeyError):
        if os.geteuid() == 0 and pwd.getpwnam(UNIT_USER):
            what = f"run by root: checks that succeed here may fail for {UNIT_USER}, the user of the unit"
            yield DoctorFinding(NOTE, "server", what, f"runuser -u {UNIT_USER} -- dataplaneapi doctor")
    yield from check_settings(settings)
    for program in programs(settings, directories):
        if program.path:
            yield DoctorFinding(OK, "programs", f"{program.path} {program.use}")
        else:
            yield DoctorFinding(ERROR, "programs", f"{program.name} cannot be run: it {program.use}", program.remedy)
    yield from check_acme(settings)
    yield from check_binary(settings)
    yield from check_configuration(settings)
    yield from check_file(Path(settings.config_file))
    yield from check_users(settings)
    yield from check_listeners(settings, directories)
    yield from check_units(settings, directories)
    yield from check_directories(settings)
    yield from check_sockets(settings)
    try:
        command = " ".join(reload_command(settings))
        uses_master = settings.master_worker_mode and settings.master_runtime
        yield DoctorFinding(OK, "reloads", f"by {'the master socket' if uses_master else command}")
    except SettingsError as error:
        yield DoctorFinding(ERROR, "reloads", str(error))
    for module in modules("doctor"):
        yield from module.findings(settings)
    yield from check_issuer(settings)
    yield from check_audit(settings)
    for name in OFTEN_WANTED:
        if EXTRAS[name].is_missing:
            yield DoctorFinding(NOTE, "extras", f"not installed: {name}", EXTRAS[name].remedy)


def check_settings(settings: Settings) -> Iterator[DoctorFinding]:
    for warning in settings.warnings:
        yield DoctorFinding(WARNING, "settings", warning)
    file = Path(settings.file) if settings.file else None
    if file is None or not file.exists():
        yield DoctorFinding(NOTE, "settings", f"there is no settings file{f' {file}' if file else ''}; flags and defaults are used")
    elif settings.users and stat.S_IMODE(file.stat().st_mode) & 0o077:
        yield DoctorFinding(WARNING, "settings", f"{file} contains passwords, and others may read it", f"chmod 600 {file}")
    else:
        yield DoctorFinding(OK, "settings", f"{file}")


def check_acme(settings: Settings) -> Iterator[DoctorFinding]:
    """Yield an error for each `acme` section whose challenges would fail, because the program for them is not in `acme_programs`."""
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


def check_binary(settings: Settings) -> Iterator[DoctorFinding]:
    """Yield findings about the version of HAProxy, about features that this version lacks, and about the sandbox of `haproxy -c`."""
    binary = shutil.which(settings.haproxy_bin)
    if binary is None:
        return
    output = ""
    with suppress(OSError, subprocess.TimeoutExpired):
        environment = haproxy_environment(os.environ, ())
        output = subprocess.run([binary, "-v"], env=environment, capture_output=True, text=True, timeout=20, check=False).stdout
    match = re.search(r"version (\d+)\.(\d+)", output)
    version = (int(match[1]), int(match[2])) if match else (0, 0)
    if not is_supported(version):
        yield DoctorFinding(ERROR, "haproxy", f"{binary} is too old, or reports no version", "HAProxy 2.6 or later is supported")
        return
    yield DoctorFinding(OK, "haproxy", f"{binary}, version {version[0]}.{version[1]}")
    if lacks := unconfined(settings):
        yield DoctorFinding(WARNING, "sandbox", "; ".join(lacks), "docs/security.md, Checks and explanations are confined")
    else:
        what = f"haproxy -c is confined by Landlock, version {sandbox.version()}, and by a filter of system calls"
        yield DoctorFinding(OK, "sandbox", what)
    for lack in lacks_of(version):
        yield DoctorFinding(NOTE, "haproxy", f"needs HAProxy {lack.since[0]}.{lack.since[1]}: {lack.what}. Before it: {lack.instead}")


def check_configuration(settings: Settings) -> Iterator[DoctorFinding]:
    """Let HAProxy check the configuration file, and yield findings with the result and with HAProxy's messages."""
    file, files = settings.config_file, config_files(settings)
    try:
        document = Document.parse(files.read())
    except Unreadable as error:
        remedy = "name the right file in haproxy.config_file, or give this user the right to read it"
        yield DoctorFinding(ERROR, "configuration", error.detail, remedy)
        return
    options = CheckSettings(
        settings.haproxy_bin, settings.validate_cmd, tuple(settings.validate_files_before), tuple(settings.validate_files_after)
    )

    async def check_with_haproxy() -> list[Message]:
        runtime, worker = Runtime(timeout=5), None
        open_engine.use_sockets(runtime, settings.master_runtime or None, files, haproxy_unit(settings))
        with suppress(RuntimeFailure):
            worker = await runtime.worker()
        home = WorkingDirectory(haproxy_unit(settings)).find(worker)
        return await check(files.checked(document), options, home=home)

    try:
        messages = asyncio.run(check_with_haproxy())
    except NativeError as error:
        yield DoctorFinding(ERROR, "configuration", f"{file}: {error}", "changes are refused until this is fixed")
        return
    yield DoctorFinding(OK, "configuration", f"{file} is valid")
    for message in messages:
        yield DoctorFinding(NOTE, "configuration", f"HAProxy: {message.text}")


def check_file(file: Path) -> Iterator[DoctorFinding]:
    """Yield findings about how changes are written to the configuration file, and about obstacles to that."""
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
    for reason in mounts.refused_writes(file.resolve()):
        yield DoctorFinding(ERROR, "file", reason, "give this user write access to the file, or better to its directory")


def check_users(settings: Settings) -> Iterator[DoctorFinding]:
    """Yield findings about the users of the API.

    They include the users in the file that the unit passes to the server, if it can be read.
    """
    unit_users = credentials.UNIT_USERS
    is_readable = unit_users.is_file() and os.access(unit_users, os.R_OK)
    if is_readable and unit_users.stat().st_size and not settings.userlist_file:
        settings = replace(settings, userlist_file=str(unit_users))

    def document() -> Document:
        return Document.parse(Path(settings.config_file).read_bytes())

    try:
        users = list(Users(settings, document))
    except (NoUsers, OSError) as error:
        yield DoctorFinding(ERROR, "users", str(error), "add a user below dataplaneapi.user, or a userlist to the configuration")
        return
    if not users and unit_users.is_file() and not is_readable:
        yield DoctorFinding(NOTE, "users", f"this user may not read {unit_users}, which the unit passes to the server")
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


def check_listeners(settings: Settings, directories: Sequence[Path]) -> Iterator[DoctorFinding]:
    """Yield a warning for each listener that has no fixed port, unless the server's socket unit is enabled."""
    try:
        listeners = endpoints(settings)
    except SettingsError as error:
        yield DoctorFinding(ERROR, "listeners", str(error))
        return
    for endpoint in listeners if not units.is_enabled(units.OUR_SOCKETS, directories) else ():
        if endpoint.scheme != "unix" and not endpoint.port:
            key = "dataplaneapi.tls.tls_port" if endpoint.scheme == "https" else "dataplaneapi.port"
            yield DoctorFinding(
                WARNING, "listeners", f"{endpoint.scheme} gets another port at each start", f"set one: {key}: {settings_repair.PORT}"
            )


def check_units(settings: Settings, directories: Sequence[Path]) -> Iterator[DoctorFinding]:
    """Yield findings about other servers of this API, and about paths in /tmp that a service with a private /tmp cannot see."""
    for other in units.other_servers(directories):
        if units.is_enabled(other.name, directories) or units.is_active_or_starting(other.name):
            what = f"{other.path} starts another server of this API, {' '.join(other.command)}: both change the same configuration"
            yield DoctorFinding(WARNING, "units", what, f"systemctl disable --now {other.name}")
    paths = [
        settings.config_file,
        settings.haproxy_bin,
        settings.master_runtime,
        *open_engine.stats_sockets_in(config_files(settings), haproxy_unit(settings)),
        settings.maps_dir,
        settings.acl_dir,
        settings.ssl_certs_dir,
        settings.general_storage_dir,
        settings.spoe_dir,
        settings.backups_dir,
        *settings.reload_cmd.split(),
        *settings.validate_cmd.split(),
    ]
    below_tmp = sorted({path for path in paths if path and path.startswith(("/tmp/", "/var/tmp/"))})
    for name in (units.OURS, units.HAPROXY):
        service = read_unit(name, directories)
        for path in below_tmp if service and service.has_own_tmp else ():
            remedy = f"move it elsewhere, or PrivateTmp=no: systemctl edit {name}"
            yield DoctorFinding(ERROR, "units", f"{name} has a private /tmp (PrivateTmp=), so it cannot see {path}", remedy)


def check_directories(settings: Settings) -> Iterator[DoctorFinding]:
    owner = None
    if os.geteuid() == 0:
        with suppress(KeyError):
            owner = pwd.getpwnam(UNIT_USER).pw_uid
    own = []
    for directory in settings_directories.directories(settings).values():
        # Root cannot use a directory of the service's user, but the service can.
        with suppress(OSError):
            if owner is not None and directory.path.stat().st_uid == owner:
                continue
        own.append(directory)
    problems = settings_directories.unusable(own)
    for problem in problems:
        what, _, remedy = problem.rpartition("; ")
        yield DoctorFinding(ERROR, "directories", what, remedy)
    if not problems:
        yield DoctorFinding(OK, "directories", "all can be used")


def check_sockets(settings: Settings) -> Iterator[DoctorFinding]:
    stats = open_engine.stats_sockets_in(config_files(settings), haproxy_unit(settings))
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
    """Return why HAProxy's last reload failed, in HAProxy's words. Return None if it succeeded, or if the master does not answer."""
    client = Master(master, timeout=5)
    try:
        process = (await client.processes()).master
        if process is None or not process.failed:
            return None
        log = await client.startup_log()
    except RuntimeFailure:
        return None
    # The first error is the cause of the others.
    return next((alert[1].rstrip(".") for alert in _ALERT.finditer(log)), "the reason is in HAProxy's log")


def _failed_reload_finding(settings: Settings, failure: str) -> DoctorFinding:
    """Return an error about a failed reload. Return a warning if the server has restored the configuration file to what HAProxy runs."""
    file, loaded = Path(settings.config_file), engine_settings(settings).last_good
    is_restored = False
    with suppress(OSError):
        if loaded is not None:
            is_restored = same_text(*(without_banner(Document.parse(path.read_bytes())) for path in (file, loaded)))
    what = f"the last reload failed: {failure}. The former worker still runs"
    if is_restored:
        remedy = "the server has put the text that HAProxy runs back into the file; the next successful reload ends this warning"
        return DoctorFinding(WARNING, "reloads", what, remedy)
    remedy = f"remove this cause, or HAProxy cannot start with {settings.config_file} after a reboot; then reload: dataplaneapi ctl reload"
    return DoctorFinding(ERROR, "reloads", what, remedy)


def _has_no_listener(address: str) -> bool:
    """Return whether a Unix socket exists on which no process listens."""
    parsed = parse_address(address)
    if parsed is None or not parsed.path:
        return False
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(parsed.path)
        except ConnectionRefusedError:
            return True
        except OSError:
            return False
    return False


async def _check_socket(kind: str, master: str | None, stats: Sequence[str]) -> DoctorFinding:
    """Return a finding about whether HAProxy answers on a socket with the level admin. `kind`: how the finding names the socket."""
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


def check_issuer(settings: Settings) -> Iterator[DoctorFinding]:
    if jwt := read_jwt(settings.jwt, settings.role_of):
        failure = issuer_failure(jwt)
        yield DoctorFinding(
            WARNING if failure else OK, "jwt", failure or f"{jwt.issuer} lists its keys", "JWTs are refused" if failure else ""
        )


def check_audit(settings: Settings) -> Iterator[DoctorFinding]:
    if audit := read_audit(settings.audit):
        failure = audit_failure(audit)
        remedy = "until this is fixed, a limited number of lines waits in memory; further lines are lost" if failure else ""
        yield DoctorFinding(ERROR if failure else OK, "audit", failure or f"{audit.path or 'syslog'} can be written", remedy)


def issuer_failure(settings: JwtSettings) -> str:
    """Return why the keys of an issuer of JWTs cannot be fetched. Empty if they can be fetched. Blocks for at most FETCH_SECONDS."""
    # Imported here, because it needs the extra `oidc`.
    from dataplaneapi.auth.jwt import FETCH_SECONDS, KeysFailed, fetch, usable

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


def audit_failure(settings: AuditSettings, collector: str = COLLECTOR) -> str:
    """Return why the user of this process cannot write the audit log. Empty if the user can. Does not write to the log."""
    path = settings.path
    if path is None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as client:
            try:
                client.connect(collector)
            except OSError as error:
                return f"nothing reads {collector}: {error.strerror}"
        return ""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        # The server creates the file and its directories.
        above = next(parent for parent in path.parents if parent.exists())
        return "" if above.is_dir() and os.access(above, os.W_OK | os.X_OK) else f"{path} cannot be created: {above} is not writable"
    except OSError as error:
        return f"{path}: {error.strerror}"
    if not stat.S_ISREG(mode):
        return f"{path} is not a regular file; symbolic links are not followed"
    return "" if os.access(path, os.W_OK) else f"{path} cannot be written"
