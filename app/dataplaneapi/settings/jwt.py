"""Parse the settings of the issuer of JWTs: the member `jwt` of the settings file."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from dataplaneapi.settings.packages import EXTRAS
from dataplaneapi.settings.roles import CLAIMS

DEFAULTS = {"issuer": "", "audience": "", "jwks": "", "claim": "groups", "name": "sub", "ca_file": ""}
# The oldest usable version of PyJWT: the first whose keys have their algorithm.
OLDEST = "2.10"
EXAMPLE = "{issuer: https://login.example.com, audience: dataplane, claim: groups}"


@dataclass(frozen=True)
class JwtSettings:
    """The issuer whose JWTs are accepted, and the claims that the server reads."""

    issuer: str
    audience: str
    # The URL of the issuer's keys. Empty: the discovery document of the issuer contains the URL.
    jwks: str = ""
    # The claim whose values `role_of` maps to roles.
    claim: str = DEFAULTS["claim"]
    # The claim that contains the name of the caller.
    name: str = DEFAULTS["name"]
    # A file with the authorities to trust instead of those of the system. Empty: those of the system.
    ca_file: str = ""

    @property
    def source(self) -> tuple[str, str, str]:
        """The settings that determine where the keys come from."""
        return self.issuer, self.jwks, self.ca_file


def read_jwt(given: Mapping[str, Any], role_of: Mapping[str, Any]) -> JwtSettings | None:
    """Parse the JWT settings without reading `ca_file`. Return None if `given` is empty. Raises ValueError, which names the member."""
    if bool(given) != bool(role_of.get(CLAIMS)):
        lacks = f"role_of: {CLAIMS}, which maps claims to roles" if given else f"jwt, which names the issuer of the claims, as in {EXAMPLE}"
        raise ValueError(f"the settings lack {lacks}")
    if not given:
        return None
    for member, value in given.items():
        if member not in DEFAULTS:
            raise ValueError(f"unknown key {str(member)[:40]!r}; expected one of {', '.join(DEFAULTS)}")
        if not (isinstance(value, str) and value):
            raise ValueError(f"{member} must be a text, as in {EXAMPLE}")
    if missing := next((member for member in ("issuer", "audience") if not given.get(member)), None):
        raise ValueError(f"{missing} is missing, as in {EXAMPLE}")
    for member in ("issuer", "jwks"):
        if url := given.get(member):
            _check_url(member, url)
    try:
        installed = version("pyjwt")
    except PackageNotFoundError:
        installed = ""
    if _version_numbers(installed) < _version_numbers(OLDEST):
        instead = f", not {installed}" if installed else ""
        raise ValueError(f"this needs PyJWT {OLDEST} or newer{instead}: {EXTRAS['oidc'].remedy}")
    return JwtSettings(**{**DEFAULTS, **given})


def _version_numbers(text: str) -> list[int]:
    return [int(part) for part in re.findall(r"[0-9]+", text)[:2]]


def _check_url(member: str, url: str) -> None:
    """Raise ValueError unless a URL is https, or http to this machine.

    Anybody on the network could replace keys that are sent without TLS.
    """
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise ValueError(f"{member} is not a URL: {error}") from None
    is_loopback = parts.hostname == "localhost"
    with suppress(ValueError):
        is_loopback = is_loopback or ip_address(parts.hostname or "").is_loopback
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback)
    if not parts.hostname or "@" in parts.netloc or not url.isascii() or " " in url or not is_safe:
        raise ValueError(f"{member} must be a URL such as https://login.example.com, without a user; http is allowed only for this machine")
