"""`Keyring`: seals what a fleet writes into its store, so that who reads the store learns nothing and who writes it forges nothing.

A sealed value is the name of the key (4 bytes), a nonce (12 bytes), and the compressed value under AES-256-GCM. The name of the store's key
is authenticated with it, so that a value is valid only where it was written. The keys are derived by HKDF from a secret of 32 random bytes
and the group. The first secret seals and all of them open, so that one can replace another without a pause. What sealing cannot show is
that a value is an old one; the numbers of releases do.
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
# The most bytes that a value may have when it is opened.
MOST = 64 << 20


class Unopened(Unusable):
    """A value that no key opens. `detail` is the complete message."""


def new_secret() -> str:
    """Return a new secret, as the file of a key contains it."""
    return base64.b64encode(os.urandom(SECRET_BYTES)).decode()


def read_secret(text: str) -> bytes:
    """Return the secret that the text of a file states. Raises ValueError."""
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
        """Seal a value for the key `place` of the store."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = os.urandom(_NONCE)
        return self._first + nonce + AESGCM(self._keys[self._first]).encrypt(nonce, zlib.compress(value), place.encode())

    def open(self, place: str, sealed: bytes) -> bytes:
        """Return a sealed value of the key `place`. Raises Unopened."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        name, nonce, rest = sealed[:_NAME], sealed[_NAME : _NAME + _NONCE], sealed[_NAME + _NONCE :]
        if (key := self._keys.get(name)) is None:
            raise Unopened(f"{place} is sealed with the key {name.hex() or 'none'}; this node has {', '.join(self.names)}")
        try:
            unpacker = zlib.decompressobj()
            opened = unpacker.decompress(AESGCM(key).decrypt(nonce, rest, place.encode()), MOST)
        except (InvalidTag, ValueError, zlib.error):
            raise Unopened(f"{place} was changed by someone who does not have the key of the fleet") from None
        if unpacker.unconsumed_tail:
            raise Unopened(f"{place} has more than {MOST} bytes")
        return opened

    @property
    def names(self) -> list[str]:
        """The names of the keys, the sealing one first."""
        return [name.hex() for name in self._keys]

    def object_name(self, digest: str) -> str:
        """Return the name in the store of a text with this digest, from which nobody without the key learns the digest."""
        return hmac.new(self._objects, digest.encode(), sha256).hexdigest()[:32]


def _derived(secret: bytes, group: str, use: str) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), 32, None, f"dataplaneapi fleet {use} {group}".encode()).derive(secret)
