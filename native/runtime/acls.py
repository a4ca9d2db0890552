"""ACLs of the running process and their patterns (HAProxy Management Guide, section 9.3, `show acl`)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

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


def acls(text: str) -> Iterator[Acl]:
    """Of `show acl`."""
    for line in text.splitlines():
        if match := _ACL.fullmatch(line) or _UNHEARD_OF.fullmatch(line):
            named = _NAMED.search(match["rest"])
            yield Acl(match["id"], match["file"] or (named[1] if named else ""), match["rest"])


def patterns(text: str) -> Iterator[tuple[str, str]]:
    """(reference, pattern) of `show acl #<id>`; only a line feed ends a line."""
    for line in text.split("\n"):
        reference, sign, pattern = line.partition(" ")
        if sign:
            yield reference, pattern
