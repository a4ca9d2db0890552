"""The kinds of objects that lines may refer to, as openapi/haproxy/references.yaml declares them."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from haproxy_native.grammar.load import bundle


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of object, and the forms in which lines refer to its objects. openapi/haproxy/references.yaml explains the fields."""

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
    """Return all kinds by name, such as `backend` or `backend/server`."""
    declared: Mapping[str, Mapping[str, Any]] = bundle()["x-references"]["kinds"]
    return {name: Kind(name, **{"also" if word == "is" else word: value for word, value in row.items()}) for name, row in declared.items()}


@dataclass(frozen=True)
class TableForms:
    """The forms in which lines refer to a stick table. `<>` stands for the name of the table."""

    # The kinds of sections with such references.
    sections: Sequence[str]
    lines: Sequence[str]
    arguments: Sequence[str]


@functools.cache
def tables() -> TableForms:
    declared = bundle()["x-references"]["tables"]
    return TableForms(declared["in"], declared["lines"], declared["arguments"])


@dataclass(frozen=True)
class Lookups:
    """The functions, actions and directives that compute names while HAProxy runs. references.yaml explains the fields."""

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
    """The keywords of the configuration for certificates."""

    # The kind of section that loads certificates, and the first word of its lines.
    store: str
    load: str
    # The keywords before the path of a certificate, and before the path of a crt-list.
    file: str
    list: str
    # The global directive that sets the base of relative paths.
    base: str


@functools.cache
def certificate_words() -> CertificateWords:
    return CertificateWords(**bundle()["x-references"]["certificates"])
