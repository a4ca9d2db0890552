"""The files that a configuration names: where, as what, and at which paths HAProxy may look for them. Pure."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from haproxy_native.editing.file_references import bases
from haproxy_native.features.lint.declared import words
from haproxy_native.features.lint.view import Scope, Statement, View

CERTIFICATE, LIST, MAP, OTHER = "certificate", "list", "map", "other"


@dataclass(frozen=True)
class NamedFile:
    """`paths`: the places where it may be. `is_sure`: HAProxy looks nowhere else. `may_be_made`: HAProxy makes it where it is missing."""

    statement: Statement
    name: str
    kind: str
    paths: Sequence[str]
    is_sure: bool
    may_be_made: bool


def named_files(view: View) -> Iterator[NamedFile]:
    """What a variable gives is not known, and left out."""
    places = places_of(view)
    for scope in view.scopes:
        own = [*_bases(scope), *places]
        for statement in scope.statements:
            yield from _of(statement, own)


def named_files_of(view: View, statement: Statement) -> list[NamedFile]:
    return list(_of(statement, [*_bases(view.by_place[statement.place]), *view.cached("places", places_of)]))


def _of(statement: Statement, places: Sequence[str]) -> Iterator[NamedFile]:
    table = words()["files"]
    for name, kind in _names(statement):
        if "$" not in name and "%" not in name and not name.startswith(tuple(table["not_paths"])):
            plain = name.removeprefix(table["path"])
            paths = tuple(dict.fromkeys(posixpath.normpath(posixpath.join(base, plain)) for base in places))
            # A relative path begins where HAProxy was started, unless a line says where.
            is_sure = posixpath.isabs(plain) or len(places) > 1
            yield NamedFile(statement, plain, kind, paths, is_sure, statement.has(*table["made"]))


def places_of(view: View) -> list[str]:
    """Returns the directories in which relative paths may begin."""
    return [*bases(view.document, view.facts.directory), *_origins(view)]


def _origins(view: View) -> Iterator[str]:
    table = words()["files"]
    for scope in view.of_kind(words()["global"]["section"]):
        for statement in scope.own(table["default_path"]):
            if statement.begins(f"{table['default_path']} {table['origin']}"):
                yield from statement.words[2:3]
            yield posixpath.dirname(view.facts.directory)


def _bases(scope: Scope) -> Iterator[str]:
    """Yields the base directories that a section sets itself."""
    yield from (statement.words[1] for statement in scope.statements if statement.words[0].endswith("-base") and len(statement.words) > 1)


def _names(statement: Statement) -> Iterator[tuple[str, str]]:
    table, given = words()["files"], statement.words
    first = given[0]
    for place, word in enumerate(given[:-1]):
        if word in table["lines"].get(first, ()):
            yield given[place + 1], _kind(word)
        elif (word == table["patterns"] and place) or (first in table["options"] and word in table["in_options"]):
            yield given[place + 1], OTHER
    if first in table["places"]:
        yield from ((name, OTHER) for name in given[table["places"][first] :][:1])
    if statement.begins(table["spoe"]) and (name := statement.behind(table["spoe_word"])):
        yield name, OTHER
    if "(" in statement.text:
        yield from ((match["file"].strip("\"' "), MAP) for word in given for match in _maps().finditer(word))


def _kind(word: str) -> str:
    table = words()["files"]
    return CERTIFICATE if word in table["certificates"] else LIST if word in table["lists"] else OTHER


@cache
def _maps() -> re.Pattern[str]:
    return re.compile(words()["files"]["maps"])
