"""Detects secret files: private keys in any encoding, and keys of session tickets. Pure.

Certificates, lists and general files may share a directory. What is recognised here is never sent to a client.
"""

import base64
import binascii
import re
from itertools import islice

# PEM with or without a byte order mark, indented or not; JSON Web Keys; keys of PuTTY, of SSH and of WireGuard.
_NAMED = re.compile(rb"PRIVATE KEY|PRIVATE-KEY|Private-Lines:|PrivateKey\s*=|\"kty\"\s*:|'kty'\s*:", re.IGNORECASE)
# DER, PKCS#12 and any other binary file.
_BINARY = re.compile(rb"[\0-\x08\x0e-\x1f\x7f]")
# What is searched in one call of C code, for which all other threads wait; so much of a piece is searched again with the next one.
_PIECE, _OVERLAP = 1 << 17, 1 << 10
_WORD = re.compile(rb"\S+")
# HAProxy Configuration Manual, section 5.1, tls-ticket-keys.
_TICKET_BYTES = (48, 80)


def is_secret(data: bytes) -> bool:
    """True for a binary file, too: HAProxy reads no list, no map and no page of that kind, but it does read keys."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or any(_is_named(data, start) for start in range(0, len(data), _PIECE)):
        return True
    words = (match[0] for match in _WORD.finditer(data))
    return any(map(_is_ticket_key, islice(words, 1))) and all(map(_is_ticket_key, words))


def _is_named(data: bytes, start: int) -> bool:
    end = start + _PIECE + _OVERLAP
    return bool(_BINARY.search(data, start, end) or _NAMED.search(data, start, end))


def _is_ticket_key(word: bytes) -> bool:
    if len(word) > 112:
        return False
    try:
        return len(base64.b64decode(word, validate=True)) in _TICKET_BYTES
    except binascii.Error:
        return False
