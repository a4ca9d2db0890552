"""Check a password against the stored password: clear text, a variable, or any hash that the system's libcrypt supports.

The module calls `crypt_r` of libcrypt, because Python has removed its module `crypt`, and no package implements yescrypt.
"""

import ctypes
import hmac
import os
import re
import secrets
from collections.abc import Mapping
from functools import cache

from haproxy_native.editing.userlist import User
from haproxy_native.text import words

# The method and parameters in a hash of bcrypt or scrypt. In hashes of other methods, a `$` follows them.
_FIXED = re.compile(r"\$2[a-z]?\$\d+|\$7\$.{11}")
# More bytes than `struct crypt_data` has in any libcrypt.
_STATE_BYTES = 1 << 18


def expanded(stored: str) -> str | None:
    """Return the stored password with variables such as `"${NAME}"` expanded. Return None if a variable is unset or empty."""
    return words.expanded(stored, os.environ) if is_variable(stored) else stored


def is_variable(stored: str) -> bool:
    """Return whether the stored text names an environment variable that contains the password."""
    return words.has_variable(stored)


def is_usable(stored: str) -> bool:
    """Return whether the stored text is a hash of a supported method. No password matches an unsupported hash."""
    stored_hash = expanded(stored)
    sample = hashed("", stored_hash) if stored_hash else None
    return sample is not None and len(sample) == len(stored_hash or "")


def verify(password: str, stored: str, *, clear: bool) -> bool:
    """Return whether the password matches the stored text. Blocks while it computes the hash, so do not call it in the event loop."""
    expected = expanded(stored)
    if expected is None:
        return False
    given = password if clear else hashed(password, expected)
    return given is not None and hmac.compare_digest(given.encode("utf-8", "surrogateescape"), expected.encode("utf-8", "surrogateescape"))


def cost(stored: str, *, clear: bool) -> str:
    """Return the method and parameters of a stored hash, on which the time of a check depends. Return "" if a check computes no hash."""
    stored_hash = expanded(stored)
    if clear or not stored_hash:
        return ""
    fixed = _FIXED.match(stored_hash)
    return fixed[0] if fixed else stored_hash.rpartition("$")[0].rpartition("$")[0] or "des"


def verify_evenly(password: str, user: User | None, hashes: Mapping[str, str]) -> bool:
    """Return whether the password is that of the user. `user` is None if the name is unknown.

    The check takes equally long for every name, so that its time does not reveal whether a name exists. To that end it hashes the password
    once for each cost in use. `hashes` has one stored hash for each cost. Blocks.
    """
    own = cost(user.password, clear=user.clear) if user else ""
    for hash_, stored in hashes.items():
        if hash_ != own:
            hashed(password, expanded(stored) or "")
    return user is not None and verify(password, user.password, clear=user.clear)


def hashed(password: str, setting: str) -> str | None:
    """Return the hash of a password. `setting` is a hash, or the beginning of one, with the method and the salt to use.

    Return None if libcrypt does not support the method, or if a text contains a NUL character. Blocks.
    """
    secret, salt = password.encode("utf-8", "surrogateescape"), setting.encode("utf-8", "surrogateescape")
    if b"\0" in secret or b"\0" in salt:
        return None
    result = _crypt_r()(secret, salt, ctypes.create_string_buffer(_STATE_BYTES))
    return None if result is None or result.startswith(b"*") else result.decode("ascii", "replace")


def new_hash(password: str) -> str | None:
    """Return a SHA-256 hash with a random salt, like `openssl passwd -5`. Return None for a password that cannot be hashed. Blocks."""
    return hashed(password, f"$5${secrets.token_hex(8)}")


@cache
def _crypt_r() -> "ctypes._NamedFuncPointer":
    for name in ("libcrypt.so.1", "libcrypt.so.2"):
        try:
            function = ctypes.CDLL(name).crypt_r
        except OSError:
            continue
        function.restype, function.argtypes = ctypes.c_char_p, [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p]
        return function
    raise RuntimeError("libcrypt is not installed, so hashed passwords cannot be checked")
