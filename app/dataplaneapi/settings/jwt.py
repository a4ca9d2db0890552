"""The issuer of JWTs as YAML has it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from dataplaneapi.settings.packages import EXTRAS
from dataplaneapi.settings.roles import CLAIMS

DEFAULTS = {"issuer": "", "audience": "", "jwks": "", "claim": "groups", "name": "sub", "ca_file": ""}
# Whose keys know their algorithms.
OLDEST = "2.10"
EXAMPLE = "{issuer: https://login.example.com, audience: dataplane, claim: groups}"


@dataclass(frozen=True)
class JwtSettings:
    """`jwks`: where its keys are, empty where its discovery document says so. `claim` holds what role_of goes by, `name` the caller's name.

    `ca_file`: trusted instead of the system's authorities.
    """

    issuer: str
    audience: str
    jwks: str = ""
    claim: str = DEFAULTS["claim"]
    name: str = DEFAULTS["name"]
    ca_file: str = ""

    @property
    def source(self) -> tuple[str, str, str]:
        """Returns where the keys come from."""
        return self.issuer, self.jwks, self.ca_file


def read_jwt(given: Mapping[str, Any], role_of: Mapping[str, Any]) -> JwtSettings | None:
    """Returns the JWT settings; None without an issuer. Raises ValueError, which names the member. Does not read the file that is named."""
    if bool(given) != bool(role_of.get(CLAIMS)):
        lacks = f"role_of: {CLAIMS}, which says whose claims have which roles" if given else f"jwt, where claims come from, as in {EXAMPLE}"
        raise ValueError(f"the settings lack {lacks}")
    if not given:
        return None
    for member, value in given.items():
        if member not in DEFAULTS:
            raise ValueError(f"it has no member {str(member)[:40]!r}; they are {', '.join(DEFAULTS)}")
        if not (isinstance(value, str) and value):
            raise ValueError(f"{member} must be a text, as in {EXAMPLE}")
    if missing := next((member for member in ("issuer", "audience") if not given.get(member)), None):
        raise ValueError(f"{missing} is missing, as in {EXAMPLE}")
    for member in ("issuer", "jwks"):
        if url := given.get(member):
            _check_url(member, url)
    _check_library()
    return JwtSettings(**{**DEFAULTS, **given})


def _check_library() -> None:
    try:
        installed = version("pyjwt")
    except PackageNotFoundError:
        installed = ""
    if _numbers(installed) < _numbers(OLDEST):
        instead = f", not {installed}" if installed else ""
        raise ValueError(f"this needs PyJWT {OLDEST} or newer{instead}: {EXTRAS['oidc'].remedy}")


def _numbers(text: str) -> list[int]:
    return [int(part) for part in re.findall(r"[0-9]+", text)[:2]]


def _check_url(member: str, url: str) -> None:
    """Keys that come without TLS are anybody's, but for those of this machine."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise ValueError(f"{member} is no address: {error}") from None
    is_plain = parts.scheme == "http" and _is_loopback(parts.hostname or "")
    if not parts.hostname or "@" in parts.netloc or not url.isascii() or " " in url or not (parts.scheme == "https" or is_plain):
        raise ValueError(f"{member} is an address such as https://login.example.com, without a user; http is for this machine alone")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
