"""The kinds of objects that lines name, as openapi/haproxy/references.yaml declares them."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from haproxy_native.grammar.load import bundle


@dataclass(frozen=True, eq=False)
class Kind:
    """What names objects of one kind; its words are explained in openapi/haproxy/references.yaml."""

    name: str
    also: Sequence[str] = ()
    defined: Sequence[str] = ()
    lines: Sequence[str] = ()
    headers: Sequence[str] = ()
    here: Sequence[str] = ()
    arguments: Sequence[str] = ()
    arguments_here: Sequence[str] = ()
    criteria: Sequence[str] = ()
    criteria_here: Sequence[str] = ()
    dynamic: Sequence[str] = ()
    spoe: Sequence[str] = ()
    conditions: bool = False
    table: str = ""
    holds: str = ""
    path: bool = False


@functools.cache
def kinds() -> Mapping[str, Kind]:
    """Returns the kinds by name, as in `backend` and `backend/server`."""
    return {name: _kind(name, row) for name, row in bundle()["x-references"]["kinds"].items()}


def _kind(name: str, row: Mapping[str, Any]) -> Kind:
    return Kind(name, **{"also" if word == "is" else word: value for word, value in row.items()})


@dataclass(frozen=True)
class Tables:
    """How stick tables are named, with the name of one in the place of `<>`; `sections`: in which sections."""

    sections: Sequence[str]
    lines: Sequence[str]
    arguments: Sequence[str]


@functools.cache
def tables() -> Tables:
    declared = bundle()["x-references"]["tables"]
    return Tables(declared["in"], declared["lines"], declared["arguments"])


@dataclass(frozen=True)
class Lookups:
    """The functions that look a name up when a request comes, and what writes or makes names without a line that has them."""

    maps: Sequence[str]
    texts: Sequence[str]
    variables: Sequence[str]
    setters: Sequence[str]
    writers: Sequence[str]
    scripts: Sequence[str]
    agents: Sequence[str]


@functools.cache
def lookups() -> Lookups:
    return Lookups(**bundle()["x-references"]["lookups"])


@dataclass(frozen=True)
class CertificateWords:
    """The section that loads certificates, its lines, the keywords before a file and a list, and what says where files are."""

    store: str
    load: str
    file: str
    list: str
    base: str


@functools.cache
def certificate_words() -> CertificateWords:
    return CertificateWords(**bundle()["x-references"]["certificates"])
