"""Secrets in texts and objects, shown as fingerprints that only this machine can make: `<masked:1f0c9a3b5d7e>`. Pure.

A secret is a password or its hash, a key that stands in the text, the value of a header that authenticates, and of a variable whose name
says so. What a secret is in a file of its own, such as a private key, is recognised by native/haproxy_native/storage/key_material.py. The
checksum line is left out, by which a short password could be found.
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
_HEADERS = ("authorization", "proxy-authorization", "api-key", "x-api-key", "x-auth-token", "x-vault-token", "private-token")
_VALUES = ("hdr_format", "hdr_match", "fmt")
_DIGITS = 12
# Members that hold a value of the member which their object names.
_SIDES = ("old", "new", "theirs", "mine")
# HAProxy Configuration Manual, sections 3.1 (cluster-secret, setenv, presetenv), 12.2 (user), 12.8 (acme-vars) and 4.2 (dynamic-cookie-key,
# stats auth, http-request set-header, http-check send, option httpchk, tcp-check send).
_WORD = r"(?:\\.|\"(?:\\.|[^\"\\])*\"|'[^']*'|[^\s\\\"'])+"
_NAMES = "(?=[apx])(?:(?:proxy-)?authorization|(?:x-)?api-key|x-(?:auth|vault)-token|private-token)"
# Of variables: names that say so.
_VARIABLE = r"\w*(?:PASSW|SECRET|TOKEN|API_?KEY|PRIVATE_?KEY)\w*"
# The command of Redis and others, which a check sends.
_AUTH = "(?-i:A(?<![A-Z]A)UTH)"
_IN_QUOTES = rf"(?P<quote>[\"'])(?:\\.|(?!(?P=quote))[^\\\n])*?(?:{_NAMES}:(?:\\?[ \t])*|{_AUTH}(?:\\?[ \t])+)"
# A key that is an argument of a converter, and not the name of a variable (sections 2.8 and 7.3.1).
_ARGUMENT = (
    r"\b(?:jwt_verify\([^,()\n]*|hmac\([^,()\n]*|aes_(?:gcm|cbc)_(?:enc|dec)\([^,()\n]*,[^,()\n]*),[ \t]*(?:\\?[\"'])?(?P<argument>)"
    r"(?!(?:proc|sess|txn|req|res|check)\.)"
)
# At the start of a line, of a configuration or a difference, or where an error quotes one. What is sent by a check may end with \r\n.
LINE = re.compile(
    rf"(?P<before>(?:^[ +-]?[ \t]*|: )(?:user[ \t]+{_WORD}(?:(?!: user)[^\n])*?[ \t](?:insecure-)?password|cluster-secret"
    rf"|dynamic-cookie-key|acme-vars|stats[ \t]+auth|(?:pre)?setenv[ \t]+{_VARIABLE})[ \t]+"
    rf"|\b(?=[hsa])(?:hdr|(?:set|add)-header)[ \t]+[\"']?{_NAMES}[\"']?[ \t]+|{_IN_QUOTES}"
    rf"|{_NAMES}:(?:\\?[ \t])*|{_AUTH}(?:\\[ \t])+|{_ARGUMENT})"
    rf"(?P<secret>(?(quote)(?:\\[^rn\n]|(?!(?P=quote))[^\\\n])+|(?(argument)[^\s,()\"'\\]+|{_WORD})))",
    re.MULTILINE | re.IGNORECASE,
)
_FINGERPRINT = re.compile(r"<masked:[0-9a-f]{12}>")
_SECRET_VARIABLE = re.compile(_VARIABLE, re.IGNORECASE)


class Mask:
    """Fingerprints are made with `key`, so that a password cannot be found by trying what is likely; without one all secrets are alike."""

    def __init__(self, key: bytes = b"", members: frozenset[str] = MEMBERS) -> None:
        self._key, self._members = key, members

    def of_members(self, members: frozenset[str]) -> "Mask":
        """One with the same key that hides these members, too."""
        return Mask(self._key, self._members | members) if members else self

    def fingerprint(self, secret: str | bytes) -> str:
        if not self._key:
            return "<masked>"
        if isinstance(secret, str) and _FINGERPRINT.fullmatch(secret):
            # Shown already, by a call within this one.
            return secret
        data = secret.encode("utf-8", "surrogateescape") if isinstance(secret, str) else secret
        return f"<masked:{hmac.new(self._key, data, sha256).hexdigest()[:_DIGITS]}>"

    def text(self, text: str) -> str:
        """Lines of a configuration, or of a difference of two."""
        masked = LINE.sub(lambda match: match["before"] + self.fingerprint(match["secret"]), text)
        return masked if masked == text else header.without_checksum(masked)

    def value(self, value: Any, member: str = "") -> Any:
        """A value of an object, whatever stands in it."""
        if member in self._members and isinstance(value, str):
            return self.fingerprint(value)
        if member in self._members and isinstance(value, Mapping):
            return {name: self.value(each, member) for name, each in value.items()}
        if isinstance(value, Mapping):
            # An effect or a conflict names the member whose values it holds, and a rule the header.
            of = str(value.get("member", ""))
            hidden: tuple[str, ...] = _VALUES if any(str(value.get(name, "")).lower() in _HEADERS for name in ("hdr_name", "name")) else ()
            if "value" in value and _SECRET_VARIABLE.fullmatch(str(value.get("name", ""))):
                hidden = ("value",)
            return {
                name: self.fingerprint(str(member_value))
                if name in hidden
                else self.value(member_value, of if name in _SIDES and of else name)
                for name, member_value in value.items()
            }
        if isinstance(value, str):
            return self.text(value)
        return [self.value(element) for element in value] if isinstance(value, Sequence) else value


# Makes no fingerprints.
BLANK = Mask()
