"""Detect secret files: private keys in any encoding, and keys of TLS session tickets.

Certificates, lists and general files may share a directory. A file that this module recognizes as secret is never sent to a client.
"""

import base64
import binascii
import re
from contextlib import suppress
from itertools import islice

# PEM with or without a byte order mark, indented or not; JSON Web Keys; keys of PuTTY, of SSH and of WireGuard.
_NAMED = re.compile(rb"PRIVATE KEY|PRIVATE-KEY|Private-Lines:|PrivateKey\s*=|\"kty\"\s*:|'kty'\s*:", re.IGNORECASE)
# DER, PKCS#12 and any other binary file.
_BINARY = re.compile(rb"[\0-\x08\x0e-\x1f\x7f]")
# How many bytes one call of a regular expression searches, since all other threads wait for it, and by how many bytes pieces overlap.
_PIECE, _OVERLAP = 1 << 17, 1 << 10
_WORD = re.compile(rb"\S+")
_COMMENT = re.compile(rb"^[ \t]*#.*$", re.MULTILINE)
# The possible lengths of a key in base64 or hexadecimal digits, and the least length of its first line.
_ENCODED, _LEAST_LINE = range(64, 1 << 17), 40
_LETTERS = re.compile(rb"[A-Za-z0-9+/_-]+={0,2}")
# The start of an ASN.1 sequence of more than 127 bytes: keys in DER and PKCS#12.
_SEQUENCE = (b"\x30\x81", b"\x30\x82", b"\x30\x83")
# HAProxy Configuration Manual, section 5.1, tls-ticket-keys.
_TICKET_BYTES = (48, 80)


def is_secret(data: bytes) -> bool:
    """Return whether a file may contain a secret.

    Any binary file counts as secret: keys can be binary, and the lists and pages that HAProxy reads are text.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    for start in range(0, len(data), _PIECE):
        end = start + _PIECE + _OVERLAP
        if _BINARY.search(data, start, end) or _NAMED.search(data, start, end):
            return True
    words = (match[0] for match in _WORD.finditer(data))
    if any(map(_is_ticket_key, islice(words, 1))) and all(map(_is_ticket_key, words)):
        return True
    return len(data) in _ENCODED and _is_encoded_key(_COMMENT.sub(b"", data).split())


def _is_encoded_key(words: list[bytes]) -> bool:
    """Return whether the words are one encoded key (DER or PEM, in base64 or hexadecimal digits), or are all ticket keys."""
    if not words or len(words[0]) < _LEAST_LINE or not all(map(_LETTERS.fullmatch, words)):
        return False
    letters = b"".join(words)
    padding = b"=" * (-len(letters) % 4)
    for decode in (bytes.fromhex, lambda text: base64.urlsafe_b64decode(text + padding.decode())):
        with suppress(ValueError):
            decoded = decode(letters.decode())
            if decoded.startswith(_SEQUENCE) or _NAMED.search(decoded):
                return True
    return all(map(_is_ticket_key, words))


def _is_ticket_key(word: bytes) -> bool:
    if len(word) > 112:
        return False
    try:
        return len(base64.b64decode(word, validate=True)) in _TICKET_BYTES
    except binascii.Error:
        return False
