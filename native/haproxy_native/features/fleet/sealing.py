"""`Keyring`: encrypts and authenticates the values in the store of a fleet. Nobody without the key can read or forge a value.

An encrypted value is the name of the key (4 bytes), a nonce (12 bytes), and the compressed value under AES-256-GCM. The store key of the
value is authenticated as well, so the value is valid only under this store key. The encryption keys are derived by HKDF from a secret of
32 random bytes and the name of the group. The first secret encrypts, and all secrets decrypt, so that secrets can be rotated without
downtime. Encryption does not detect that somebody has put back an old value; the numbers of releases do.
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
# The largest decrypted value, in bytes.
LARGEST = 64 << 20


class DecryptionFailed(Unusable):
    """No key decrypts a value. `detail` is the complete message."""


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

    def encrypt(self, store_key: str, value: bytes) -> bytes:
        """Encrypt a value for the store key `store_key`."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = os.urandom(_NONCE)
        return self._first + nonce + AESGCM(self._keys[self._first]).encrypt(nonce, zlib.compress(value), store_key.encode())

    def decrypt(self, store_key: str, data: bytes) -> bytes:
        """Decrypt a value that was encrypted for the store key `store_key`. Raises DecryptionFailed."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        name, nonce, rest = data[:_NAME], data[_NAME : _NAME + _NONCE], data[_NAME + _NONCE :]
        if (key := self._keys.get(name)) is None:
            raise DecryptionFailed(f"{store_key} is sealed with the key {name.hex() or 'none'}; this node has {', '.join(self.names)}")
        try:
            unpacker = zlib.decompressobj()
            value = unpacker.decompress(AESGCM(key).decrypt(nonce, rest, store_key.encode()), LARGEST)
        except (InvalidTag, ValueError, zlib.error):
            raise DecryptionFailed(f"{store_key} was changed by someone who does not have the key of the fleet") from None
        if unpacker.unconsumed_tail:
            raise DecryptionFailed(f"{store_key} has more than {LARGEST} bytes")
        return value

    @property
    def names(self) -> list[str]:
        """Return the names of the keys. The first key encrypts."""
        return [name.hex() for name in self._keys]

    def object_name(self, digest: str) -> str:
        """Return the name in the store of a text with this digest. Nobody without the key can compute the digest from the name."""
        return hmac.new(self._objects, digest.encode(), sha256).hexdigest()[:32]


def _derived(secret: bytes, group: str, use: str) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), 32, None, f"dataplaneapi fleet {use} {group}".encode()).derive(secret)
