"""Compute the listeners to open from the settings: one for each value of `scheme`, and one for each entry of the list `listeners`.

An entry overrides settings for its own listener.
"""

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dataplaneapi.host import credentials
from dataplaneapi.settings.table import Settings, SettingsError, source, yaml_value

# The keys of an entry, which are names of settings. For https, a key in TLS_OWN stands for the setting with the prefix `tls_`.
KEYS = (
    "scheme host port socket_path socket_mode listen_limit keep_alive cleanup_timeout read_timeout write_timeout max_header_size "
    "tls_certificate tls_key tls_ca tls_crl tls_client_names basic_auth"
).split()
TLS_OWN = ("host", "port", "listen_limit", "keep_alive", "read_timeout", "write_timeout")
# The kind of the names in a certificate that are URIs, in the words of the module `ssl`, and the prefix of SPIFFE ids.
URI, SPIFFE = "URI", "spiffe:"
_SPIFFE_ID = re.compile(r"spiffe://[a-z0-9._-]+(?:/[A-Za-z0-9._-]+)*")
# The settings that listeners depend on. A running process applies changes of these to its listeners.
OF_LISTENERS = frozenset({*KEYS, *(f"tls_{key}" for key in TLS_OWN), "graceful_timeout"})


@dataclass(frozen=True)
class Endpoint:
    """The options of a listener. Times are in seconds, and sizes in bytes. 0 or an empty text means that an option is not set."""

    scheme: str = "http"
    host: str = ""
    port: int = 0
    path: str = ""
    mode: int | None = None
    limit: int = 0
    keep_alive: bool = True
    cleanup_timeout: float = 10.0
    read_timeout: float = 30.0
    write_timeout: float = 30.0
    max_header_size: int = 0
    certificate: str = ""
    key: str = ""
    authority: str = ""
    revoked: str = ""
    client_names: tuple[str, ...] = ()
    basic_auth: bool = True

    @property
    def socket_address(self) -> tuple[str, str, int, str]:
        """The options to which the socket is bound. All other options can change while the socket is open."""
        return self.scheme, self.host, self.port, self.path

    def allows(self, names: Sequence[tuple[str, str]]) -> bool:
        """Return whether `client_names` permits a client. `names`: the (kind, value) pairs of the names in the client's certificate.

        A pattern that ends with `*` matches by prefix. A SPIFFE pattern is compared only with the SPIFFE id of the certificate.
        """
        if not self.client_names:
            return True
        # An empty id matches no SPIFFE pattern.
        ids, values = [spiffe_id(names)], [value for _, value in names]
        for pattern in self.client_names:
            candidates = ids if pattern.lower().startswith(SPIFFE) else values
            is_prefix = pattern.endswith("*")
            if any(name.startswith(pattern[:-1]) if is_prefix else name == pattern for name in candidates):
                return True
        return False


def spiffe_id(names: Iterable[tuple[str, str]]) -> str:
    """Return the SPIFFE id of a certificate with these names. Return an empty text if the certificate has no valid SPIFFE id.

    A certificate with a SPIFFE id has no other URI. A valid SPIFFE id contains no empty segments, no dot segments and no percent-encoding.
    """
    uris = [value for kind, value in names if kind == URI]
    if len(uris) != 1 or not _SPIFFE_ID.fullmatch(uris[0]) or {".", ".."} & set(uris[0].split("/")):
        return ""
    return uris[0]


def endpoints(settings: Settings) -> tuple[Endpoint, ...]:
    """Return the endpoints of all listeners. Raises SettingsError if one is invalid or two have the same address."""
    result = [_endpoint(scheme, settings) for scheme in dict.fromkeys(settings.scheme)]
    result += [_endpoint_of_entry(f"dataplaneapi.listeners[{number}]", entry, settings) for number, entry in enumerate(settings.listeners)]
    for number, endpoint in enumerate(result):
        if endpoint.socket_address in [each.socket_address for each in result[:number]] and (endpoint.port or endpoint.path):
            raise SettingsError(f"two listeners have the same address {endpoint.path or f'{endpoint.host}:{endpoint.port}'}")
    return tuple(result)


def endpoint_of_scheme(scheme: str, settings: Settings) -> Endpoint:
    """Return the endpoint for a socket that the service manager has opened.

    This is the first endpoint with this scheme in the settings. If there is none, it is an endpoint with the options of the scheme's own
    listener.
    """
    return next((endpoint for endpoint in endpoints(settings) if endpoint.scheme == scheme), None) or _endpoint(scheme, settings)


def _endpoint(scheme: str, settings: Settings) -> Endpoint:
    plain = Endpoint(
        scheme=scheme,
        host=settings.host,
        port=settings.port,
        limit=settings.listen_limit,
        keep_alive=settings.keep_alive > 0,
        cleanup_timeout=settings.cleanup_timeout,
        read_timeout=settings.read_timeout,
        write_timeout=settings.write_timeout,
        max_header_size=settings.max_header_size,
    )
    if scheme == "unix":
        try:
            mode = int(settings.socket_mode, 8) if settings.socket_mode else None
        except ValueError:
            raise SettingsError(f"socket_mode {settings.socket_mode!r} is not an octal mode such as 0660") from None
        return dataclasses.replace(plain, host="", port=0, path=settings.socket_path, mode=mode)
    return _with_tls(plain, settings) if scheme == "https" else plain


def _with_tls(plain: Endpoint, settings: Settings) -> Endpoint:
    """Return the endpoint with TLS. Raises SettingsError.

    If the settings have `tls_ca` and `tls_port`, clients authenticate by their certificate instead of a password, as in the Data Plane API.
    """
    certificate = settings.tls_certificate or credentials.path(credentials.CERTIFICATE)
    key = settings.tls_key or credentials.path(credentials.KEY)
    missing = [flag for flag, value in (("certificate", certificate), ("key", key)) if not value]
    if missing:
        flags = " and ".join(f"`--tls-{flag}`" for flag in missing)
        raise SettingsError(
            f"the required flag{'s' if len(missing) > 1 else ''} {flags} {'were' if len(missing) > 1 else 'was'} not specified"
        )
    if settings.tls_client_names and not settings.tls_ca:
        raise SettingsError("tls_client_names needs tls_ca: without it, clients send no certificates")
    if settings.tls_crl and not settings.tls_ca:
        raise SettingsError("tls_crl needs tls_ca: without it, clients send no certificates")
    own: dict[str, Any] = {
        "limit": settings.tls_listen_limit,
        "keep_alive": None if settings.tls_keep_alive is None else settings.tls_keep_alive > 0,
        "read_timeout": settings.tls_read_timeout,
        "write_timeout": settings.tls_write_timeout,
        "host": settings.tls_host or None,
    }
    return dataclasses.replace(
        plain,
        **{name: value for name, value in own.items() if value is not None},
        port=settings.tls_port,
        certificate=certificate,
        key=key,
        authority=settings.tls_ca,
        revoked=settings.tls_crl,
        client_names=tuple(settings.tls_client_names),
        basic_auth=not (settings.tls_ca and settings.tls_port),
    )


def _endpoint_of_entry(name: str, entry: Mapping[str, Any], settings: Settings) -> Endpoint:
    """Return the endpoint of an entry of the list `listeners`. `name`: how error messages call the entry. Raises SettingsError."""
    if wrong := [key for key in entry if key not in KEYS]:
        raise SettingsError(f"{name}: unknown key {wrong[0]}; expected one of {', '.join(KEYS)}")
    scheme = entry.get("scheme", "http")
    if scheme not in ("http", "https", "unix"):
        raise SettingsError(f"{name}.scheme {scheme!r} is not one of http, https, unix")
    try:
        own: dict[str, Any] = {}
        for key, value in entry.items():
            if key not in ("scheme", "basic_auth"):
                setting = f"tls_{key}" if scheme == "https" and key in TLS_OWN else key
                own[setting] = yaml_value(source(setting).kind, f"{name}.{key}", value)
        endpoint = _endpoint(scheme, dataclasses.replace(settings, **own))
    except SettingsError as error:
        raise SettingsError(f"{name}: {error}") from None
    basic_auth = entry.get("basic_auth")
    if basic_auth is None:
        return endpoint
    if not isinstance(basic_auth, bool):
        raise SettingsError(f"{name}.basic_auth must be true or false, not {basic_auth!r}")
    if not basic_auth and scheme != "unix" and not endpoint.authority:
        raise SettingsError(f"{name}.basic_auth: false needs tls_ca or a unix socket; without these, anybody could change everything")
    return dataclasses.replace(endpoint, basic_auth=basic_auth)
