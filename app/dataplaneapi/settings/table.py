"""Define all settings in one table, with flags, keys in the YAML file, environment variables, defaults and help, and combine their sources.

The first source that has a value takes precedence: flag, environment variable (only listeners have them), YAML file, default.
"""

import contextlib
import dataclasses
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from dataplaneapi.settings.quantities import duration, size
from dataplaneapi.version import VERSION

API, TLS, HAPROXY = "dataplaneapi", "dataplaneapi.tls", "haproxy"
RELOAD, TRANSACTION, RESOURCES, USERLIST = "haproxy.reload", "dataplaneapi.transaction", "dataplaneapi.resources", "dataplaneapi.userlist"

NO_WAIT = "the sidecar starts without waiting for HAProxy, and connects to its socket when needed"
CHOICES = {"on_conflict": ("refuse", "merge"), "tests": ("ignore", "require")}
# The length of a DES hash. Unlike other hashes, it contains no `$` that would identify it.
_DES_LENGTH = 13


class SettingsError(Exception):
    """Raised if the settings cannot be used. The message is for the operator."""


@dataclass(frozen=True)
class SettingSource:
    """The sources of a setting, and how to parse it."""

    flags: tuple[str, ...]
    # The path of the key in the YAML file, separated by dots.
    yaml: str
    # `text`, `number`, `switch`, `duration`, `size` or `texts`.
    kind: str
    help: str
    # The environment variable, or None.
    env: str | None
    # Why a setting of the Data Plane API has no effect. It is accepted with a warning. Empty: the setting has an effect.
    unused: str

    @property
    def meaning(self) -> str:
        return f"{self.help}: {self.unused}" if self.unused else self.help


def _setting(flags: str, where: str, kind: str, default: Any, help: str, *, key: str = "", env: str | None = None, unused: str = "") -> Any:
    """Return a field of `Settings`. In the YAML file, the setting is `key` in the map `where`; by default, `key` is the long flag."""
    names = tuple(flags.split())
    yaml = f"{where}.{key or names[-1].lstrip('-').replace('-', '_')}" if where else ""
    about = {"source": SettingSource(names, yaml, kind, help, env, unused)}
    if kind == "texts":
        return field(default_factory=list, metadata=about)
    return field(default=default, metadata=about)


@dataclass(frozen=True, eq=False, repr=False)
class Settings:
    """All settings with their effective values. Durations are in seconds, sizes in bytes. `users` contains passwords: do not log it."""

    scheme: list[str] = _setting("--scheme", API, "texts", None, "listener to open: http, https or unix; may be repeated")
    cleanup_timeout: float = _setting("--cleanup-timeout", API, "duration", 10.0, "close idle connections after this time")
    graceful_timeout: float = _setting(
        "--graceful-timeout", API, "duration", 15.0, "time for running requests to finish when the sidecar stops"
    )
    max_header_size: int = _setting("--max-header-size", API, "size", 1_000_000, "maximum size of request headers")
    max_body_size: int | None = _setting(
        "--max-body-size",
        API,
        "size",
        None,
        "maximum size of request bodies, 0 for no limit; default: 1 MB, whole lists and texts 50 MB, uploads 1 GB",
    )
    socket_path: str = _setting("--socket-path", API, "text", "/var/run/data-plane.sock", "socket of the unix listener")
    socket_mode: str = _setting("--socket-mode", API, "text", "", "octal mode of that socket; default: 0750, restricted by the umask")
    host: str = _setting("--host", API, "text", "localhost", "address to listen on", env="HOST")
    port: int = _setting("--port", API, "number", 0, "port to listen on; 0 picks a free one", env="PORT")
    listen_limit: int = _setting(
        "--listen-limit", API, "number", 1024, "maximum number of open connections of each listener; 0 for no limit"
    )
    keep_alive: float = _setting(
        "--keep-alive", API, "duration", 180.0, "time between two requests of a connection; 0 closes it after each response"
    )
    read_timeout: float = _setting("--read-timeout", API, "duration", 30.0, "maximum time to receive a request")
    write_timeout: float = _setting("--write-timeout", API, "duration", 30.0, "maximum time to send a response")
    tls_host: str = _setting("--tls-host", TLS, "text", "", "address of the https listener; default: host", env="TLS_HOST")
    tls_port: int = _setting("--tls-port", TLS, "number", 0, "port of the https listener", env="TLS_PORT")
    tls_certificate: str = _setting("--tls-certificate", TLS, "text", "", "certificate of the https listener, PEM", env="TLS_CERTIFICATE")
    tls_key: str = _setting("--tls-key", TLS, "text", "", "private key of that certificate, PEM", env="TLS_PRIVATE_KEY")
    tls_ca: str = _setting("--tls-ca", TLS, "text", "", "require client certificates of this authority, PEM", env="TLS_CA_CERTIFICATE")
    tls_crl: str = _setting("--tls-crl", TLS, "text", "", "revoked client certificates: one CRL for each authority, PEM", env="TLS_CRL")
    tls_client_names: list[str] = _setting(
        "--tls-client-names", TLS, "texts", None, "name that client certificates may have, with `*` for any ending; may be repeated"
    )
    tls_listen_limit: int | None = _setting(
        "--tls-listen-limit", TLS, "number", None, "listen-limit of the https listener; default: the value of listen-limit"
    )
    tls_keep_alive: float | None = _setting(
        "--tls-keep-alive", TLS, "duration", None, "keep-alive of the https listener; default: the value of keep-alive"
    )
    tls_read_timeout: float | None = _setting(
        "--tls-read-timeout", TLS, "duration", None, "read-timeout of the https listener; default: the value of read-timeout"
    )
    tls_write_timeout: float | None = _setting(
        "--tls-write-timeout", TLS, "duration", None, "write-timeout of the https listener; default: the value of write-timeout"
    )
    cors_origins: list[str] = _setting(
        "--cors-origins",
        API,
        "texts",
        None,
        "origin whose pages may use this API, such as https://panel.example.com; may be repeated",
    )
    trusted_proxies: list[str] = _setting(
        "--trusted-proxies",
        API,
        "texts",
        None,
        "network of trusted proxies: their X-Forwarded-For names the client; unix trusts clients of unix sockets; may be repeated",
    )
    show_system_info: bool = _setting("-i --show-system-info", API, "switch", False, "show facts about the machine in /info")
    api_version: str = _setting("--api-version", API, "text", VERSION, "version that /info reports; some clients depend on it")
    acme_programs: list[str] = _setting(
        "--acme-programs", API, "texts", None, "path of a program that may set DNS records for ACME (provider exec); may be repeated"
    )
    strict: bool = _setting(
        "--strict", API, "switch", False, "refuse unknown members and query parameters instead of naming them in response headers"
    )
    on_conflict: str = _setting("--on-conflict", API, "text", "refuse", "how to handle writes made from an old version: refuse or merge")
    tests: str = _setting("--tests", API, "text", "ignore", "whether changes must pass the routing tests: ignore or require")
    read_only: bool = _setting("--read-only", API, "switch", False, "refuse all changes with 403")
    disable_ui: bool = _setting("--disable-ui", API, "switch", False, "do not serve the page at /ui/")
    disable_inotify: bool = _setting("--disable-inotify", API, "switch", False, "do not watch the HAProxy configuration file")
    pid_file: str = _setting("--pid-file", API, "text", "", "file for the process id")
    uid: int = _setting("--uid", API, "number", 0, "user id to run as; its groups are used unless gid is set")
    gid: int = _setting("--gid", API, "number", 0, "group id to run as")
    debug_socket_path: str = _setting("--debug-socket-path", API, "text", "", "unix socket for debugging")
    userlist: str = _setting("-u --userlist", USERLIST, "text", "controller", "userlist section with the users of this API")
    userlist_file: str = _setting(
        "--userlist-file", USERLIST, "text", "", "file that contains the userlist; default: the HAProxy configuration"
    )
    transaction_dir: str = _setting(
        "-t --transaction-dir", TRANSACTION, "text", "/tmp/haproxy", "directory for texts of failed transactions"
    )
    backups_number: int = _setting("-n --backups-number", TRANSACTION, "number", 0, "number of old configurations to keep")
    backups_dir: str = _setting(
        "--backups-dir", TRANSACTION, "text", "", "directory for old configurations; default: that of the configuration"
    )
    max_open_transactions: int = _setting(
        "--max-open-transactions", TRANSACTION, "number", 20, "maximum number of open transactions; 0 for no limit"
    )
    transaction_ttl: float = _setting(
        "--transaction-ttl", TRANSACTION, "duration", 0.0, "end transactions that nobody has used for this time; 0 for never"
    )
    maps_dir: str = _setting("-p --maps-dir", RESOURCES, "text", "/etc/haproxy/maps", "directory of map files")
    ssl_certs_dir: str = _setting("--ssl-certs-dir", RESOURCES, "text", "/etc/haproxy/ssl", "directory of certificates and crt-lists")
    acl_dir: str = _setting(
        "--acl-dir", RESOURCES, "text", "", "directory of ACL pattern files, which the API then manages like maps; default: none"
    )
    history_entries: int = _setting("--history-entries", RESOURCES, "number", 10_000, "maximum number of history entries")
    history_days: int = _setting("--history-days", RESOURCES, "number", 0, "days to keep history entries; 0 for no limit")
    history_size: int = _setting(
        "--history-size", RESOURCES, "number", 1024, "maximum size of the history in MiB, plus 64 for private keys"
    )
    general_storage_dir: str = _setting(
        "--general-storage-dir", RESOURCES, "text", "/etc/haproxy/general", "directory of other stored files"
    )
    dataplane_storage_dir: str = _setting(
        "--dataplane-storage-dir", RESOURCES, "text", "/etc/haproxy/dataplane", "directory for the sidecar's own data"
    )
    spoe_dir: str = _setting("--spoe-dir", RESOURCES, "text", "/etc/haproxy/spoe", "directory of SPOE files")
    spoe_transaction_dir: str = _setting(
        "--spoe-transaction-dir", RESOURCES, "text", "/tmp/spoe-haproxy", "directory with SPOE transactions of other API servers"
    )
    update_map_files: bool = _setting("--update-map-files", RESOURCES, "switch", False, "write runtime changes of maps to their files")
    update_map_files_period: int = _setting("--update-map-files-period", RESOURCES, "number", 10, "seconds between two such writes")
    config_file: str = _setting("-c --config-file", HAPROXY, "text", "/etc/haproxy/haproxy.cfg", "HAProxy configuration file")
    config_files_before: list[str] = _setting(
        "--config-files-before",
        HAPROXY,
        "texts",
        None,
        "file or directory that HAProxy loads before the configuration file; may be repeated",
    )
    config_files_after: list[str] = _setting(
        "--config-files-after", HAPROXY, "texts", None, "file or directory that HAProxy loads after the configuration file; may be repeated"
    )
    short_header: bool = _setting(
        "--short-header", HAPROXY, "switch", False, "write only `# _version=` above the file, without checksum and banner"
    )
    haproxy_bin: str = _setting("-b --haproxy-bin", HAPROXY, "text", "haproxy", "HAProxy binary for validation")
    master_runtime: str = _setting("-m --master-runtime", HAPROXY, "text", "", "master socket of HAProxy")
    master_worker_mode: bool = _setting("--master-worker-mode", HAPROXY, "switch", False, "reload through the master socket")
    delayed_start_max: float = _setting("--delayed-start-max", HAPROXY, "duration", 0.0, "no effect", unused=NO_WAIT)
    delayed_start_tick: float = _setting("--delayed-start-tick", HAPROXY, "duration", 0.0, "no effect", unused=NO_WAIT)
    reload_delay: int = _setting("-d --reload-delay", RELOAD, "number", 5, "minimum number of seconds between two reloads")
    reload_cmd: str = _setting("-r --reload-cmd", RELOAD, "text", "", "command that reloads HAProxy")
    restart_cmd: str = _setting("-s --restart-cmd", RELOAD, "text", "", "no effect", unused="HAProxy is never restarted, only reloaded")
    status_cmd: str = _setting("--status-cmd", RELOAD, "text", "", "command that succeeds if HAProxy runs")
    service_name: str = _setting("--service", RELOAD, "text", "", "name of the service that systemd or s6 reloads", key="service_name")
    reload_strategy: str = _setting("--reload-strategy", RELOAD, "text", "custom", "how to reload HAProxy: custom, systemd or s6")
    reload_retention: int = _setting("--reload-retention", RELOAD, "number", 1, "days to keep records of reloads")
    validate_cmd: str = _setting("--validate-cmd", RELOAD, "text", "", "command to validate with instead of haproxy -c")
    validate_files_before: list[str] = _setting(
        "--validate-files-before", RELOAD, "texts", None, "file to validate before the configuration; may be repeated"
    )
    validate_files_after: list[str] = _setting(
        "--validate-files-after", RELOAD, "texts", None, "file to validate after the configuration; may be repeated"
    )
    time_suffix: str = _setting(
        "--time-suffix",
        HAPROXY,
        "text",
        "nearest",
        "unit for new time values: nearest, none, ms, s, m, h or d",
        key="preferred_time_suffix",
    )
    # Settings that only the YAML file can contain, the path of that file, and the warnings about all settings.
    name: str = ""
    listeners: list[dict[str, Any]] = field(default_factory=list)
    users: list[dict[str, Any]] = field(default_factory=list)
    roles: dict[str, Any] = field(default_factory=dict)
    role_of: dict[str, Any] = field(default_factory=dict)
    jwt: dict[str, Any] = field(default_factory=dict)
    audit: dict[str, Any] = field(default_factory=dict)
    advertised: dict[str, Any] = field(default_factory=dict)
    log_targets: list[dict[str, Any]] = field(default_factory=list)
    service_discovery: dict[str, Any] = field(default_factory=dict)
    fleet: dict[str, Any] = field(default_factory=dict)
    file: str = ""
    warnings: tuple[str, ...] = ()


def table() -> Iterator[tuple[str, SettingSource, Any]]:
    """Yield (name, source, default) for each setting that has a flag."""
    for setting in dataclasses.fields(Settings):
        if "source" in setting.metadata:
            default = [] if setting.default is dataclasses.MISSING else setting.default
            yield setting.name, setting.metadata["source"], default


def source(name: str) -> SettingSource:
    """Return the source of a setting, by its name in `Settings`."""
    return next(source_ for setting, source_, _ in table() if setting == name)


def at(data: Any, path: str) -> Any:
    """Return the value at a dotted path, or None if the path does not exist."""
    for key in path.split("."):
        data = data.get(key) if isinstance(data, Mapping) else None
    return data


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a number") from None


_PARSERS: dict[str, Callable[[str], Any]] = {"text": str, "number": _number, "duration": duration, "size": size}


def parse(kind: str, text: str) -> Any:
    """Parse a value from the command line or an environment variable. Raises ValueError."""
    return _PARSERS[kind](text)


def combine(flags: Mapping[str, Any], environ: Mapping[str, str], data: Any, *, file: str = "") -> Settings:
    """Combine the settings from all sources. Harmless mistakes become `warnings`. Raises SettingsError, which lists all other mistakes."""
    warnings: list[str] = []
    wrong: list[str] = []
    values = {}
    for name, source, default in table():
        values[name] = default
        try:
            values[name] = _first_value(name, source, default, flags, environ, data, warnings)
        except SettingsError as error:
            wrong.append(str(error))
            continue
        if source.unused and (name in flags or at(data, source.yaml) is not None):
            warnings.append(f"{source.yaml} has no effect: {source.unused}")
    listeners = _maps(data, "dataplaneapi.listeners", wrong)
    if not values["scheme"] and not listeners:
        values["scheme"] = ["http"]
    settings = Settings(
        **values,
        name=str(at(data, "name") or os.uname().nodename),
        listeners=listeners,
        users=_maps(data, "dataplaneapi.user", wrong),
        roles=_map(data, "dataplaneapi.roles", wrong),
        role_of=_map(data, "dataplaneapi.role_of", wrong),
        jwt=_map(data, "dataplaneapi.jwt", wrong),
        audit=_map(data, "dataplaneapi.audit", wrong),
        advertised=_map(data, "dataplaneapi.advertised", wrong),
        log_targets=_maps(data, "log_targets", wrong),
        service_discovery=_map(data, "service_discovery", wrong),
        fleet=_map(data, "fleet", wrong),
        file=file,
    )
    wrong += _find_mistakes(settings)
    if wrong:
        raise SettingsError("\n".join(wrong))
    for user in settings.users:
        password = str(user.get("password", ""))
        if not user.get("insecure") and "$" not in password and len(password) != _DES_LENGTH:
            name, remedy = user.get("name", ""), "hash it (openssl passwd -5) or set insecure: true"
            warnings.append(f"the password of user {name} is not a hash, so every login fails: {remedy}")
    return dataclasses.replace(settings, warnings=tuple(warnings))


def _first_value(
    name: str, source: SettingSource, default: Any, flags: Mapping[str, Any], environ: Mapping[str, str], data: Any, warnings: list[str]
) -> Any:
    if name in flags:
        return flags[name]
    if source.env and environ.get(source.env):
        try:
            return parse(source.kind, environ[source.env])
        except ValueError as error:
            raise SettingsError(f"variable {source.env}: {error}") from None
    value = at(data, source.yaml) if source.yaml else None
    try:
        return default if value is None else yaml_value(source.kind, source.yaml, value)
    except SettingsError as error:
        if source.kind not in ("duration", "size"):
            raise
        warnings.append(f"{error}; {default} is used")
        return default


def yaml_value(kind: str, path: str, value: Any) -> Any:
    """Convert a value of the YAML file to the kind of the setting. Raises SettingsError, which names `path`, the path of the key."""
    if kind in ("duration", "size"):
        try:
            return parse(kind, str(value))
        except ValueError as error:
            raise SettingsError(f"{path}: {error}") from None
    if kind == "texts" and isinstance(value, list):
        return [str(element) for element in value]
    if kind in _WORDS and not isinstance(value, list | Mapping):
        with contextlib.suppress(ValueError, KeyError):
            return _WORDS[kind](str(value).lower() if isinstance(value, bool) else str(value))
    expected = {"texts": "a list", "text": "a text", "switch": "true or false", "number": "a number"}[kind]
    raise SettingsError(f"{path} must be {expected}, not {value!r}")


# Existing files also use the other words of YAML 1.1 for true and false.
_SWITCH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_WORDS: dict[str, Callable[[str], Any]] = {"text": str, "number": int, "switch": lambda word: _SWITCH[word.lower()]}


def _maps(data: Any, path: str, wrong: list[str]) -> list[dict[str, Any]]:
    rows = at(data, path) or []
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        wrong.append(f"{path} must be a list of maps")
        return []
    return [dict(row) for row in rows]


def _map(data: Any, path: str, wrong: list[str]) -> dict[str, Any]:
    members = at(data, path) or {}
    if not isinstance(members, Mapping):
        wrong.append(f"{path} must be a map")
        return {}
    return dict(members)


_PORTS, _IDS, _COUNTS = (1 << 16) - 1, (1 << 32) - 2, (1 << 63) - 1


# An origin as browsers send it: scheme, host and port in lower case, without a path. Patterns are not supported.
_ORIGIN = re.compile(r"https?://(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?")


def _unusable_parts(settings: Settings) -> Iterator[str]:
    """Yield the mistakes in settings that other modules parse. Import these modules only if there is something to parse."""
    for name, known in CHOICES.items():
        if getattr(settings, name) not in known:
            yield f"dataplaneapi.{name} must be {' or '.join(known)}, not {getattr(settings, name)!r}"
    if settings.roles or settings.role_of or any("role" in user for user in settings.users):
        from dataplaneapi.settings.roles import read_roles

        yield from _unusable("", partial(read_roles, settings.roles, settings.role_of, settings.users))
    if settings.jwt or settings.role_of.get("claims"):
        from dataplaneapi.settings.jwt import read_jwt

        yield from _unusable("jwt: ", partial(read_jwt, settings.jwt, settings.role_of))
    if settings.audit:
        from dataplaneapi.settings.audit import read_audit

        yield from _unusable("audit: ", partial(read_audit, settings.audit))
    if settings.trusted_proxies:
        from dataplaneapi.settings.proxies import read_proxies

        yield from _unusable("trusted_proxies: ", partial(read_proxies, settings.trusted_proxies))


def _unusable(prefix: str, read: Callable[[], Any]) -> Iterator[str]:
    try:
        read()
    except ValueError as error:
        yield f"dataplaneapi.{prefix}{error}"


def _find_mistakes(settings: Settings) -> Iterator[str]:
    """Yield the mistakes in values that have the right kind."""
    largest = {"dataplaneapi.port": _PORTS, "dataplaneapi.tls.tls_port": _PORTS, "dataplaneapi.uid": _IDS, "dataplaneapi.gid": _IDS}
    for name, source, _ in table():
        limit = largest.get(source.yaml, _COUNTS)
        if source.kind == "number" and not 0 <= (getattr(settings, name) or 0) <= limit:
            yield f"{source.yaml} must be from 0 to {limit}, not {getattr(settings, name)}"
    if wrong := [scheme for scheme in settings.scheme if scheme not in ("http", "https", "unix")]:
        yield f"scheme {wrong[0]!r} is not one of http, https, unix"
    if not re.fullmatch(r"v[0-9]+(\.[0-9]+)*[!-~]*", settings.api_version):
        yield f"dataplaneapi.api_version must be a version such as {VERSION}, not {settings.api_version!r}"
    if strange := [origin for origin in settings.cors_origins if not _ORIGIN.fullmatch(origin)]:
        yield f"dataplaneapi.cors_origins: {strange[0]!r} is not an origin such as https://panel.example.com:8443"
    yield from _unusable_parts(settings)
    # Clients may replace files in the directories of stored files.
    stored = {name: os.path.realpath(path) for name, _, _ in table() if name.endswith("_dir") and (path := getattr(settings, name))}
    for program in settings.acme_programs:
        real = os.path.realpath(program)
        if not os.path.isabs(program):
            yield f"dataplaneapi.acme_programs: {program!r} is not an absolute path"
        elif setting := next((name for name, path in stored.items() if os.path.commonpath((real, path)) == path), ""):
            yield f"dataplaneapi.acme_programs: {program} is below {setting}, whose files clients may replace; move it elsewhere"
    try:
        shlex.split(settings.status_cmd)
    except ValueError as error:
        yield f"haproxy.reload.status_cmd cannot be split into words: {error}"
    if settings.time_suffix not in ("nearest", "none", "ms", "s", "m", "h", "d"):
        yield f"invalid PreferredTimeSuffix value '{settings.time_suffix}'"
