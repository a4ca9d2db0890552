"""ACLs of the running process, their patterns, and changes of these as steps (HAProxy Management Guide, section 9.3, `show acl`).

The name of an ACL is `#<id>` or its file. A whole list is replaced through a second version, which HAProxy puts in the place of the first
at once.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from haproxy_native.errors import RuntimeAbsent
from haproxy_native.runtime import replacement
from haproxy_native.runtime import responses as answers
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.responses import refused

LIST_HEAD = r"# id"
PATTERNS_HEAD = r"0x[0-9a-f]+ "
# A file's name may hold anything; what follows it is known.
_ACL = re.compile(r"(?P<id>\d+) \((?P<file>.*?)\) (?P<rest>(?:pattern loaded from|acl '|used by).*)")
_UNHEARD_OF = re.compile(r"(?P<id>\d+) \((?P<file>.*?)\) ?(?P<rest>.*)")
_NAMED = re.compile(r"acl '(.*?)' file")


@dataclass(frozen=True)
class Acl:
    """`name`: its file, or what an ACL that stands in the configuration looks at (`src`, `path`)."""

    id: str
    name: str
    description: str
    file: str = ""


def acls(text: str) -> Iterator[Acl]:
    """Parses an answer to `show acl`."""
    for line in text.splitlines():
        if match := _ACL.fullmatch(line) or _UNHEARD_OF.fullmatch(line):
            named = _NAMED.search(match["rest"])
            yield Acl(match["id"], match["file"] or (named[1] if named else ""), match["rest"], match["file"])


def patterns(text: str) -> Iterator[tuple[str, str]]:
    """(reference, pattern) of `show acl #<id>`; only a line feed ends a line."""
    for line in text.split("\n"):
        reference, sign, pattern = line.partition(" ")
        if sign:
            yield reference, pattern


async def loaded(runtime: Runtime) -> list[Acl]:
    """Raises RuntimeFailure."""
    return list(acls(await runtime.read("show acl", LIST_HEAD)))


async def entries(runtime: Runtime, name: str) -> list[tuple[str, str]]:
    """(reference, pattern) in the ACL's order. Raises RuntimeRefused for an ACL that is not there."""
    return list(patterns(await runtime.read(f"show acl {named(name)}", PATTERNS_HEAD)))


def named(name: str) -> str:
    """An ACL in a command."""
    return f"#{argument(name[1:])}" if name.startswith("#") else argument(name)


@dataclass(frozen=True)
class Add:
    """One more pattern."""

    name: str
    pattern: str

    @property
    def texts(self) -> Sequence[str]:
        return [f"add acl {named(self.name)} {argument(self.pattern)}"]

    async def carry_out(self, runtime: Runtime) -> None:
        await runtime.ask(self.texts[0])

    async def take_back(self, runtime: Runtime) -> None:
        await runtime.ask(f"del acl {named(self.name)} {argument(self.pattern)}")


@dataclass(frozen=True)
class Delete:
    """The pattern of a reference."""

    name: str
    reference: str

    @property
    def texts(self) -> Sequence[str]:
        return [f"del acl {named(self.name)} #{argument(self.reference)}"]

    async def carry_out(self, runtime: Runtime) -> None:
        await runtime.ask(self.texts[0])

    async def take_back(self, runtime: Runtime) -> None:
        raise RuntimeAbsent(f"a pattern of {self.name} is gone")


@dataclass(frozen=True)
class Replace:
    """All patterns anew, at once or not at all."""

    name: str
    patterns: Sequence[str]

    @property
    def texts(self) -> Sequence[str]:
        return replacement.ACL.texts(named(self.name), "<pattern>")

    async def carry_out(self, runtime: Runtime) -> None:
        await replacement.replace(runtime, replacement.ACL, named(self.name), lambda adding: self._add(runtime, adding))

    async def _add(self, runtime: Runtime, adding: str) -> None:
        """HAProxy takes no payload here."""
        added = [f"{adding} {argument(pattern)}" for pattern in self.patterns]
        for command, answer in zip(added, await runtime.each(added), strict=True):
            if (refusal := answers.refusal(answer)) is not None:
                raise refused(refusal, command)

    async def take_back(self, runtime: Runtime) -> None:
        raise RuntimeAbsent(f"the former patterns of {self.name} are gone")
