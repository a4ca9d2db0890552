"""Define nodes for words that no synopsis can describe. Each class states the reason for this, and a test counts the classes."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from haproxy_native.errors import BadValue, Place
from haproxy_native.grammar.synopsis import Node, NoValue, Values
from haproxy_native.grammar.values import bracketed, has_path, is_ipv6, one_word, split_address
from haproxy_native.text.words import is_word, normalized, quoted, unquoted

_PORT = re.compile(r"\d+")
PAYLOADS = ("default-errorfiles", "errorfile", "errorfiles", "file", "lf-file", "string", "lf-string")


class AddressPort:
    """The node for `address[:port]` in one word. Reason: IPv6 addresses, socket families and variables contain colons without a port."""

    examples: tuple[str, ...] = ("192.0.2.1:80", "[2001:db8::1]:443", "/run/app.sock", "web.example.com")

    def __init__(self, member: str) -> None:
        self.member, self.port = member, re.sub("address|fqdn", "port", member)
        self.members: tuple[str, ...] = (self.member, self.port)
        self.needs: tuple[str, ...] = (self.member,)

    def meant(self, values: Mapping[str, Any]) -> Values:
        """Return the values as if they had been written and read again: the address without needless brackets, and the port as a member.

        Clients may send the port as part of the address, as its own member, or both. Raises BadValue if the two ports differ.
        """
        sent = {member: values[member] for member in self.members if values.get(member) is not None}
        address = normalized(str(sent.get(self.member, "")))
        if not address:
            return {} if self.port not in sent else sent
        words = self.write({self.member: address})
        _, read = self.match(words, 0) or (0, {})
        if self.port in sent and read.get(self.port) != sent[self.port]:
            # In a list of addresses with commas, the port belongs to the last address. If the address without its last part still has a
            # colon, it is an IPv6 address, as in `${PREFIX}::1`.
            host, last = split_address(words[0].rpartition(",")[2])
            if last and split_address(host)[1] is None:
                detail = (
                    f"{self.port} in body is {sent[self.port]}, but {self.member} '{address}' contains {last}: send the address without it"
                )
                raise BadValue(detail, place=Place(member=self.port))
            sent[self.member] = address.removesuffix(":") if last == "" else address
            _, read = self.match(self.write(sent), 0) or (0, {})
        for member in self.members[1:]:
            if sent.get(member, own := read.get(member)) != own:
                held = f"contains {own}" if member in read else "has none"
                raise BadValue(f"{member} in body is {sent[member]}, but {self.member} '{address}' {held}", place=Place(member=member))
        return read

    def match(self, words: Sequence[str], at: int) -> tuple[int, Values] | None:
        if at >= len(words):
            return None
        word = normalized(words[at])
        address, port = split_address(word)
        if port is None or not _PORT.fullmatch(port):
            return at + 1, {self.member: _to_api(word)}
        return at + 1, {self.member: _to_api(address), self.port: int(port)}

    def write(self, values: Mapping[str, Any]) -> list[str]:
        if self.member not in values:
            raise NoValue(self.member)
        address = _to_word(values[self.member])
        return [f"{address}:{values[self.port]}" if self.port in values else address]

    def starts(self) -> list[str] | None:
        return None


def _to_api(address: str) -> str:
    """Return an address in the form of the API. An IPv6 address has brackets only after a family, as in `ipv6@[::1]`."""
    bare = address[1:-1]
    return bare if address == f"[{bare}]" and is_ipv6(bare) else bracketed(address) if "@" in address else address


def _to_word(address: object) -> str:
    return bracketed(normalized(one_word(str(address)))) if address else ""


class BindAddress(AddressPort):
    """The node for `[address][:port[-end]]` in one word. Reason: the same as for AddressPort.

    In a list of addresses with commas, only the port of the last address is a member. The other ports are part of the member for the
    address.
    """

    examples: tuple[str, ...] = ("192.0.2.1:80", ":443", "*:8000-8010", "/run/app.sock")

    _PORTS = re.compile(r"(.*):(\d+)(?:-(\d+))?", re.DOTALL)

    def __init__(self, member: str) -> None:
        super().__init__(member)
        self.end = f"{self.port}-range-end"
        self.members, self.needs = (self.member, self.port, self.end), ()

    def match(self, words: Sequence[str], at: int) -> tuple[int, Values] | None:
        if at >= len(words):
            return None
        word = normalized(words[at])
        ports = None if has_path(word) else self._PORTS.fullmatch(word)
        if not ports:
            return at + 1, {self.member: _to_api(word)}
        numbers = {name: int(text) for name, text in zip((self.port, self.end), ports.groups()[1:], strict=True) if text}
        return at + 1, ({self.member: _to_api(ports[1])} if ports[1] else {}) | numbers

    def write(self, values: Mapping[str, Any]) -> list[str]:
        if self.member not in values and self.port not in values:
            raise NoValue(self.member)
        address = _to_word(values.get(self.member, ""))
        if self.port not in values:
            return [address]
        return [f"{address}:{values[self.port]}" + (f"-{values[self.end]}" if self.end in values else "")]


class Payload:
    """The node for `<format> <content>`, one word each.

    Reason: default-errorfiles has no content, and the API refuses a content of several words that is not quoted.
    """

    examples: tuple[str, ...] = ("default-errorfiles", "file /dev/null")

    ALONE = "default-errorfiles"

    def __init__(self, member: str) -> None:
        self.format, self.content = member, member.removesuffix("_format")
        self.members: tuple[str, ...] = (self.format, self.content)
        self.needs = (self.format,)

    def match(self, words: Sequence[str], at: int) -> tuple[int, Values] | None:
        kind = unquoted(words[at]) if at < len(words) else ""
        if kind not in PAYLOADS:
            return None
        if kind == self.ALONE:
            return at + 1, {self.format: self.ALONE}
        return (at + 2, {self.format: kind, self.content: words[at + 1]}) if at + 1 < len(words) else None

    def write(self, values: Mapping[str, Any]) -> list[str]:
        if values[self.format] == self.ALONE:
            return [self.ALONE]
        if self.content not in values:
            raise NoValue(self.content)
        content = str(values[self.content])
        if not is_word(content):
            raise BadValue(f'invalid return content "{content}": multi-word values must be quoted', place=Place(member=self.content))
        return [str(values[self.format]), content]

    def starts(self) -> list[str] | None:
        return list(PAYLOADS)


class ClientSource:
    """The node for `usesrc <address>[:<port>] | client | clientip | hdr_ip(<hdr>[,<occ>])`.

    Reason: no word of the line names the kind `address`. If a client sends an address without a kind, the kind is `address`.
    """

    examples: tuple[str, ...] = ("usesrc clientip", "usesrc hdr_ip(x-forwarded-for,-1)", "usesrc 192.0.2.1:80")

    _HEADER = re.compile(r"hdr_ip\(([^,]*)(?:,(.*))?\)")

    def __init__(self, member: str) -> None:
        self.kind, self.address = member, AddressPort("address_second")
        self.members: tuple[str, ...] = (member, *self.address.members, "hdr", "occ")
        self.needs = ()

    def match(self, words: Sequence[str], at: int) -> tuple[int, Values] | None:
        if len(words) < at + 2 or unquoted(words[at]) != "usesrc":
            return None
        word = unquoted(words[at + 1])
        if header := self._HEADER.fullmatch(word):
            parts = {name: text for name, text in zip(("hdr", "occ"), header.groups(), strict=True) if text}
            return at + 2, {self.kind: "hdr_ip", **parts}
        if word in ("client", "clientip"):
            return at + 2, {self.kind: word}
        _, values = self.address.match(words, at + 1) or (0, {})
        return at + 2, {self.kind: "address", **values}

    def write(self, values: Mapping[str, Any]) -> list[str]:
        kind = values.get(self.kind, "address")
        if kind == "hdr_ip":
            header, occurrence = (one_word(str(values[name])) if name in values else "" for name in ("hdr", "occ"))
            return ["usesrc", f"hdr_ip({header},{occurrence})" if occurrence else f"hdr_ip({header})"]
        if kind != "address":
            return ["usesrc", kind]
        return ["usesrc", *self.address.write(values)] if self.address.member in values else []

    def meant(self, values: Mapping[str, Any]) -> Values:
        others = {member: values[member] for member in (self.kind, "hdr", "occ") if member in values}
        return others | self.address.meant(values)

    def starts(self) -> list[str] | None:
        return ["usesrc"]


_NAME = re.compile(r"[A-Za-z0-9_]+")
_SEPARATING_COMMA = re.compile(r"(?<!\\),")


class Assignments:
    """The node for `"name=value,name=value"` in one quoted word, with `\\,` for a comma in a value.

    Reason: clients choose the names.
    """

    examples: tuple[str, ...] = ('"account=team,key=sample"',)

    def __init__(self, member: str) -> None:
        self.member = member
        self.members: tuple[str, ...] = (member,)

    def match(self, words: Sequence[str], at: int) -> tuple[int, Values] | None:
        if at >= len(words):
            return None
        pairs = [pair.partition("=") for pair in _SEPARATING_COMMA.split(unquoted(words[at])) if pair]
        if not all(sign for _, sign, _ in pairs):
            return None
        return at + 1, {self.member: {name.strip(): value.replace("\\,", ",") for name, _, value in pairs}}

    def write(self, values: Mapping[str, Any]) -> list[str]:
        if self.member not in values:
            raise NoValue(self.member)
        pairs = sorted(values[self.member].items())
        for name, value in pairs:
            member = f"{self.member}.{name}"
            if not _NAME.fullmatch(name):
                raise BadValue(f"{member}: a name must have only letters, digits and _", place=Place(member=member))
            if "\\," in value or value.endswith("\\"):
                raise BadValue(
                    f"{member} has a backslash before a comma or at its end, which would be an escape", place=Place(member=member)
                )
        text = quoted(",".join(f"{name}={value}".replace(",", "\\,") for name, value in pairs))
        # HAProxy keeps a backslash before a comma when it reads the quotes, so it is not escaped itself.
        return [text.replace("\\\\,", "\\,")]

    def starts(self) -> list[str] | None:
        return None


CODECS: dict[str, Callable[[str], Node]] = {
    "address_port": AddressPort,
    "assignments": Assignments,
    "bind_address": BindAddress,
    "client_source": ClientSource,
    "payload": Payload,
}
