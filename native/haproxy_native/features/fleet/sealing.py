"""`Keyring`: encrypts and authenticates the values in the store of a fleet. Nobody without the key can read or forge them.

A sealed value is the name of the key (4 bytes), a nonce (12 bytes), and the compressed value under AES-256-GCM. The place of the value in
the store is authenticated with it, so that it is valid only there. The keys are derived by HKDF from a secret of 32 random bytes and the
name of the group. The first secret seals, and all of them open, so that secrets can be rotated without downtime. Sealing does not detect
that somebody has put back an old value; the numbers of releases do.
"""

import base64
import binascii
import hmac
import os
import zlib
from collections.abc import Sequence
from hashlib import sha256

from haproxy_native.errors import Unusable

SECRET_BYTES, _NAME, _NONCE = 32, 4, 12
# The largest opened value, in bytes.
LARGEST = 64 << 20


class Unopened(Unusable):
    """No key opens a value. `detail` is the complete message."""


def new_secret() -> str:
    """Return a new secret in base64, for a key file."""
    return base64.b64encode(os.urandom(SECRET_BYTES)).decode()


def read_secret(text: str) -> bytes:
    """Return the secret in the text of a key file. Raises ValueError."""
    try:
        secret = base64.b64decode(text.strip(), validate=True)
    except binascii.Error:
        secret = b""
    if len(secret) != SECRET_BYTES:
        raise ValueError(f"it is no key of a fleet: {SECRET_BYTES} bytes in base64, as `dataplaneapi ctl fleet key` prints them")
    return secret


class Keyring:
    """The keys of one group."""

    def __init__(self, group: str, secrets: Sequence[bytes]) -> None:
        self._keys = {_derived(secret, group, "name")[:_NAME]: _derived(secret, group, "seal") for secret in secrets}
        self._first = next(iter(self._keys))
        self._objects = _derived(secrets[0], group, "object")

    def seal(self, place: str, value: bytes) -> bytes:
        """Return a value sealed for the place `place` in the store."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = os.urandom(_NONCE)
        return self._first + nonce + AESGCM(self._keys[self._first]).encrypt(nonce, zlib.compress(value), place.encode())

    def open(self, place: str, sealed: bytes) -> bytes:
        """Return the value that was sealed for the place `place`. Raises Unopened."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        name, nonce, rest = sealed[:_NAME], sealed[_NAME : _NAME + _NONCE], sealed[_NAME + _NONCE :]
        if (key := self._keys.get(name)) is None:
            raise Unopened(f"{place} is sealed with the key {name.hex() or 'none'}; this node has {', '.join(self.names)}")
        try:
            unpacker = zlib.decompressobj()
            opened = unpacker.decompress(AESGCM(key).decrypt(nonce, rest, place.encode()), LARGEST)
        except (InvalidTag, ValueError, zlib.error):
            raise Unopened(f"{place} was changed by someone who does not have the key of the fleet") from None
        if unpacker.unconsumed_tail:
            raise Unopened(f"{place} has more than {LARGEST} bytes")
        return opened

    @property
    def names(self) -> list[str]:
        """Return the names of the keys, the one that seals first."""
        return [name.hex() for name in self._keys]

    def object_name(self, digest: str) -> str:
        """Return the name in the store of a text with this digest. Nobody without the key can tell the digest from it."""
        return hmac.new(self._objects, digest.encode(), sha256).hexdigest()[:32]


def _derived(secret: bytes, group: str, use: str) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), 32, None, f"dataplaneapi fleet {use} {group}".encode()).derive(secret)
