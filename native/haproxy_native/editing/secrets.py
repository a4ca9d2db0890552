"""Secrets in texts and objects, shown as fingerprints that only this machine can make: `<masked:1f0c9a3b5d7e>`. Pure.

A secret is a password or its hash, a key that stands in the text, and the value of a header that authenticates. What a secret is in a file
of its own, such as a private key, is recognised by native/haproxy_native/storage/key_material.py. The checksum line is left out, by which
a short password could be found.
"""

import hmac
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from haproxy_native.editing import header

# How a fingerprint begins.
MARK = b"<masked"
# Members of the API's objects.
MEMBERS = frozenset(("password", "passwd", "cluster_secret", "dynamic_cookie_key", "acme_vars"))
_HEADERS, _VALUES = ("authorization", "proxy-authorization"), ("hdr_format", "hdr_match", "fmt")
_DIGITS = 12
# Members that hold a value of the member which their object names.
_SIDES = ("old", "new", "theirs", "mine")
# HAProxy Configuration Manual, sections 3.1 (cluster-secret), 12.2 (user), 12.8 (acme-vars) and 4.2 (dynamic-cookie-key, stats auth,
# http-request set-header, http-check send, option httpchk).
_WORD = r"(?:\\.|\"(?:\\.|[^\"\\])*\"|'[^']*'|[^\s\\\"'])+"
# At the start of a line, of a configuration or a difference, or where an error quotes one.
LINE = re.compile(
    rf"(?P<before>(?:^[ +-]?[ \t]*|: )(?:user[ \t]+{_WORD}[^\n]*?[ \t](?:insecure-)?password|cluster-secret"
    rf"|dynamic-cookie-key|acme-vars|stats[ \t]+auth)[ \t]+"
    rf"|\b(?:hdr|(?:set|add)-header)[ \t]+(?:Proxy-)?Authorization[ \t]+|Authorization:(?:\\?[ \t])*)(?P<secret>{_WORD})",
    re.MULTILINE | re.IGNORECASE,
)


class Mask:
    """Fingerprints are made with `key`, so that a password cannot be found by trying what is likely; without one all secrets are alike."""

    def __init__(self, key: bytes = b"") -> None:
        self._key = key

    def fingerprint(self, secret: str | bytes) -> str:
        if not self._key:
            return "<masked>"
        data = secret.encode("utf-8", "surrogateescape") if isinstance(secret, str) else secret
        return f"<masked:{hmac.new(self._key, data, sha256).hexdigest()[:_DIGITS]}>"

    def text(self, text: str) -> str:
        """Lines of a configuration, or of a difference of two."""
        masked = LINE.sub(lambda match: match["before"] + self.fingerprint(match["secret"]), text)
        return masked if masked == text else header.without_checksum(masked)

    def value(self, value: Any, member: str = "") -> Any:
        """A value of an object, whatever stands in it."""
        if member in MEMBERS and isinstance(value, str):
            return self.fingerprint(value)
        if member in MEMBERS and isinstance(value, Mapping):
            return {name: self.value(each, member) for name, each in value.items()}
        if isinstance(value, Mapping):
            # An effect or a conflict names the member whose values it holds, and a rule the header.
            of = str(value.get("member", ""))
            hidden = _VALUES if any(str(value.get(name, "")).lower() in _HEADERS for name in ("hdr_name", "name")) else ()
            return {
                name: self.fingerprint(str(each)) if name in hidden else self.value(each, of if name in _SIDES and of else name)
                for name, each in value.items()
            }
        if isinstance(value, str):
            return self.text(value)
        return [self.value(each) for each in value] if isinstance(value, Sequence) else value


# Makes no fingerprints.
BLANK = Mask()
