"""Checks a password against a stored one: clear text, a variable, or any hash that the system's libcrypt supports.

`crypt_r` of libcrypt is called directly: Python's own wrapper is gone, and no package implements yescrypt.
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

# Of bcrypt and scrypt, whose parameters do not end with a `$`.
_FIXED = re.compile(r"\$2[a-z]?\$\d+|\$7\$.{11}")
# Larger than `struct crypt_data` of any libcrypt.
_STATE_BYTES = 1 << 18


def expanded(stored: str) -> str | None:
    """Return the stored password, with the values of variables, as in `"${NAME}"`; None if one of them is unset or empty."""
    return words.expanded(stored, os.environ) if is_variable(stored) else stored


def is_variable(stored: str) -> bool:
    """Return whether it names a variable that holds the password."""
    return words.has_variable(stored)


def is_usable(stored: str) -> bool:
    """Whether any password can match it as a hash; clear text and hashes of unknown methods match none."""
    wanted = expanded(stored)
    made = hashed("", wanted) if wanted else None
    return made is not None and len(made) == len(wanted or "")


def verify(password: str, stored: str, *, clear: bool) -> bool:
    """Whether the password is the stored one; takes as long as the hash wants, so not on the event loop."""
    wanted = expanded(stored)
    if wanted is None:
        return False
    given = password if clear else hashed(password, wanted)
    return given is not None and hmac.compare_digest(given.encode("utf-8", "surrogateescape"), wanted.encode("utf-8", "surrogateescape"))


def cost(stored: str, *, clear: bool) -> str:
    """Method and parameters of a stored hash, which tell how long its check takes; empty where no hash is computed."""
    wanted = expanded(stored)
    if clear or not wanted:
        return ""
    fixed = _FIXED.match(wanted)
    return fixed[0] if fixed else wanted.rpartition("$")[0].rpartition("$")[0] or "des"


def verify_evenly(password: str, user: User | None, hashes: Mapping[str, str]) -> bool:
    """Whether it is the password of the user; None for an unknown name. Takes equally long for every name, so that times tell no names.

    `hashes` has one stored hash for each cost in use: the password is hashed once with each.
    """
    own = cost(user.password, clear=user.clear) if user else ""
    for hash_, stored in hashes.items():
        if hash_ != own:
            hashed(password, expanded(stored) or "")
    return user is not None and verify(password, user.password, clear=user.clear)


def hashed(password: str, setting: str) -> str | None:
    """The hash of a password with the method and salt of another one; None when libcrypt does not know the method."""
    secret, salt = password.encode("utf-8", "surrogateescape"), setting.encode("utf-8", "surrogateescape")
    if b"\0" in secret or b"\0" in salt:
        return None
    result = _crypt_r()(secret, salt, ctypes.create_string_buffer(_STATE_BYTES))
    return None if result is None or result.startswith(b"*") else result.decode("ascii", "replace")


def new_hash(password: str) -> str | None:
    """A hash with a salt of its own, SHA-256 as by `openssl passwd -5`; None for a password that can have none."""
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
