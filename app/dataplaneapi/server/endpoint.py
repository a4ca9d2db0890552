"""Compute the listeners to open from the settings: one for each value of `scheme`, and one for each entry of the list `listeners`.

An entry overrides settings for its own listener.
"""

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    """The options of a listener. Times are in seconds, sizes in bytes; 0 and an empty text mean none."""

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
    def place(self) -> tuple[str, str, int, str]:
        """The address that the socket is bound to. Any other option can change while the socket is open."""
        return self.scheme, self.host, self.port, self.path

    def allows(self, names: Sequence[tuple[str, str]]) -> bool:
        """Return whether `client_names` permits a client whose certificate has these names, given as (kind, value).

        A pattern that ends with `*` matches by prefix. A SPIFFE pattern is compared only with the SPIFFE id of the certificate.
        """
        ids = [id_] if (id_ := spiffe_id(names)) else []
        others = [value for _, value in names]
        by_pattern = ((wanted, ids if wanted.lower().startswith(SPIFFE) else others) for wanted in self.client_names)
        return not self.client_names or any(_matches_any(wanted, candidates) for wanted, candidates in by_pattern)


def _matches_any(wanted: str, names: Iterable[str]) -> bool:
    return any(name.startswith(wanted[:-1]) if wanted.endswith("*") else name == wanted for name in names)


def spiffe_id(names: Iterable[tuple[str, str]]) -> str:
    """Return the SPIFFE id of a certificate with these names, which is its only URI. Return an empty text if it has no SPIFFE id."""
    uris = [value for kind, value in names if kind == URI]
    return uris[0] if len(uris) == 1 and _is_spiffe_id(uris[0]) else ""


def _is_spiffe_id(uri: str) -> bool:
    """Return whether a URI is a valid SPIFFE id, without empty segments, dot segments and percent-encoding."""
    return _SPIFFE_ID.fullmatch(uri) is not None and not {".", ".."} & set(uri.split("/"))


def endpoints(settings: Settings) -> tuple[Endpoint, ...]:
    """Return the endpoints of all listeners. Raises SettingsError if one is invalid or two have the same address."""
    result = [_endpoint(scheme, settings) for scheme in dict.fromkeys(settings.scheme)]
    result += [_endpoint_of_entry(f"dataplaneapi.listeners[{number}]", entry, settings) for number, entry in enumerate(settings.listeners)]
    for number, endpoint in enumerate(result):
        if endpoint.place in [other.place for other in result[:number]] and (endpoint.port or endpoint.path):
            raise SettingsError(f"two listeners have the same address {endpoint.path or f'{endpoint.host}:{endpoint.port}'}")
    return tuple(result)


def endpoint_of_scheme(scheme: str, settings: Settings) -> Endpoint:
    """Return the endpoint for a socket that another process has opened: the first of its scheme, or else one with default options."""
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
        return dataclasses.replace(plain, host="", port=0, path=settings.socket_path, mode=_mode(settings.socket_mode))
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


def _endpoint_of_entry(place: str, entry: Mapping[str, Any], settings: Settings) -> Endpoint:
    if wrong := [key for key in entry if key not in KEYS]:
        raise SettingsError(f"{place}: unknown key {wrong[0]}; expected one of {', '.join(KEYS)}")
    scheme = entry.get("scheme", "http")
    if scheme not in ("http", "https", "unix"):
        raise SettingsError(f"{place}.scheme {scheme!r} is not one of http, https, unix")
    try:
        endpoint = _endpoint(scheme, dataclasses.replace(settings, **dict(_settings_of_entry(place, scheme, entry))))
    except SettingsError as error:
        raise SettingsError(f"{place}: {error}") from None
    return dataclasses.replace(endpoint, basic_auth=_basic_auth(place, endpoint, entry.get("basic_auth")))


def _settings_of_entry(place: str, scheme: str, entry: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in entry.items():
        if key not in ("scheme", "basic_auth"):
            name = f"tls_{key}" if scheme == "https" and key in TLS_OWN else key
            yield name, yaml_value(source(name).kind, f"{place}.{key}", value)


def _basic_auth(place: str, endpoint: Endpoint, wanted: Any) -> bool:
    if not isinstance(wanted, bool | None):
        raise SettingsError(f"{place}.basic_auth must be true or false, not {wanted!r}")
    if wanted is False and endpoint.scheme != "unix" and not endpoint.authority:
        raise SettingsError(f"{place}.basic_auth: false needs tls_ca or a unix socket; without these, anybody could change everything")
    return endpoint.basic_auth if wanted is None else wanted


def _mode(text: str) -> int | None:
    if not text:
        return None
    try:
        return int(text, 8)
    except ValueError:
        raise SettingsError(f"socket_mode {text!r} is not an octal mode such as 0660") from None
