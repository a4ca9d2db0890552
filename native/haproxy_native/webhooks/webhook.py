"""A webhook as a value: where events are sent, which, and signed with what."""

import base64
import binascii
import ssl
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from haproxy_native.event_stream.stream import STATS, TYPES, Wanted

PREFIX = "whsec_"
LEAST_BYTES, MOST_BYTES = 24, 64
HOW = f"{PREFIX} and then {LEAST_BYTES} to {MOST_BYTES} bytes in base64: echo {PREFIX}$(openssl rand -base64 32)"
# Counters change every second, thousands of them: Prometheus and GET /v3/sidecar/events are for these.
UNSENDABLE = STATS
SENDABLE = tuple(type_ for type_ in TYPES if type_ != UNSENDABLE)


@dataclass(frozen=True)
class Webhook:
    """`name` is what its queue goes by. Its secrets are in `secret` or, one a line, in `secret_file`; each of them signs.

    `object` is a pattern, empty for any object. `ca_file`: trusted instead of the system's authorities.
    """

    name: str
    url: str
    secret: str = ""
    secret_file: str = ""
    types: Collection[str] = SENDABLE
    object: str = ""
    ca_file: str = ""

    @property
    def wanted(self) -> Wanted:
        return Wanted(frozenset(self.types), self.object)

    def keys(self) -> list[bytes]:
        """Blocks. Raises OSError and ValueError."""
        text = Path(self.secret_file).read_text("utf-8") if self.secret_file else self.secret
        keys_ = [key(line) for line in text.splitlines() if line.strip()]
        if not keys_:
            raise ValueError(f"{self.secret_file} holds no secret; one is {HOW}")
        return keys_

    def context(self) -> ssl.SSLContext:
        """Trusts the system's authorities, or those of its file. Blocks. Raises OSError."""
        try:
            return ssl.create_default_context(cafile=self.ca_file or None)
        except OSError as error:
            raise OSError(f"{self.ca_file} holds no authorities: {error.strerror or error}") from error


def key(secret: str) -> bytes:
    """The bytes of a secret. Raises ValueError, which does not show it."""
    try:
        decoded = base64.b64decode(secret.strip().removeprefix(PREFIX), validate=True)
    except (ValueError, binascii.Error):
        decoded = b""
    if not secret.strip().startswith(PREFIX) or not LEAST_BYTES <= len(decoded) <= MOST_BYTES:
        raise ValueError(f"the secret is not {HOW}")
    return decoded
