"""Find the files that a configuration refers to, and check that they exist, keys are private and certificates have not expired."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from haproxy_native.features.lint.finding import Violation
from haproxy_native.features.lint.view import FileFacts, Scope, Statement, View, words

CERTIFICATE, LIST, MAP, OTHER = "certificate", "list", "map", "other"
_OTHERS_READ = 0o004
_DAY = "%Y-%m-%d"


@dataclass(frozen=True)
class NamedFile:
    """A file that a statement names."""

    statement: Statement
    name: str
    # CERTIFICATE, LIST (of certificates), MAP or OTHER.
    kind: str
    # The paths at which HAProxy may look for the file.
    paths: Sequence[str]
    # Whether `paths` has all of them.
    is_complete: bool
    # Whether the statement makes HAProxy create the file.
    may_be_created: bool


def named_files(view: View) -> Iterator[NamedFile]:
    """Yield the files that a configuration names. Skips names that contain a variable."""
    for scope in view.scopes:
        directories = [*_bases(scope), *view.directories]
        for statement in scope.statements:
            yield from _files_of(statement, directories)


def named_files_of(view: View, statement: Statement) -> list[NamedFile]:
    """Return the files that one statement names."""
    return list(_files_of(statement, [*_bases(view.by_place[statement.place]), *view.directories]))


def _files_of(statement: Statement, directories: Sequence[str]) -> Iterator[NamedFile]:
    table = words()["files"]
    for name, kind in _file_references(statement):
        if "$" not in name and "%" not in name and not name.startswith(tuple(table["not_paths"])):
            plain = name.removeprefix(table["path"])
            paths = tuple(dict.fromkeys(posixpath.normpath(posixpath.join(base, plain)) for base in directories))
            # Without a base directory in the configuration, relative paths begin in HAProxy's working directory, which is unknown.
            is_complete = posixpath.isabs(plain) or len(directories) > 1
            yield NamedFile(statement, plain, kind, paths, is_complete, statement.has(*table["made"]))


def _bases(scope: Scope) -> Iterator[str]:
    """Yield the base directories that the lines of a section set."""
    yield from (statement.words[1] for statement in scope.statements if statement.words[0].endswith("-base") and len(statement.words) > 1)


def _file_references(statement: Statement) -> Iterator[tuple[str, str]]:
    """Yield the name and the kind of each file that a statement names."""
    table, given = words()["files"], statement.words
    first = given[0]
    for index, word in enumerate(given[:-1]):
        if word in table["lines"].get(first, ()):
            yield given[index + 1], CERTIFICATE if word in table["certificates"] else LIST if word in table["lists"] else OTHER
        elif (word == table["patterns"] and index) or (first in table["options"] and word in table["in_options"]):
            yield given[index + 1], OTHER
    if first in table["places"]:
        yield from ((name, OTHER) for name in given[table["places"][first] :][:1])
    if statement.begins(table["spoe"]) and (name := statement.after(table["spoe_word"])):
        yield name, OTHER
    if "(" in statement.text:
        yield from ((match["file"].strip("\"' "), MAP) for word in given for match in re.finditer(table["maps"], word))


def file_missing(view: View) -> Iterator[Violation]:
    for named in _certain_files(view):
        exist = [view.facts.files[path].exists for path in named.paths if path in view.facts.files]
        if named.is_complete and not named.may_be_created and len(exist) == len(named.paths) and not any(exist):
            yield Violation(named.statement, f"{named.name} does not exist")


def certificate_ended(view: View) -> Iterator[Violation]:
    for named, path, expires, now in _certificates(view):
        if expires <= now:
            yield Violation(named.statement, f"{_label(named, path)} ended on {expires:{_DAY}}")


def certificate_ends_soon(view: View) -> Iterator[Violation]:
    for named, path, expires, now in _certificates(view):
        if now < expires <= now + timedelta(days=words()["files"]["days"]):
            yield Violation(named.statement, f"{_label(named, path)} ends on {expires:{_DAY}}")


def key_readable(view: View) -> Iterator[Violation]:
    for named in _certain_files(view):
        for path, file in _certificate_files(view, named):
            if file.holds_key and file.mode & _OTHERS_READ:
                yield Violation(named.statement, f"every user of the machine may read the key in {path} (mode {file.mode & 0o777:04o})")


def file_unused(view: View) -> Iterator[Violation]:
    for path in view.facts.unused:
        yield Violation(None, f"nothing names {posixpath.basename(path)}", path=path, number=1)


def _certain_files(view: View) -> Iterator[NamedFile]:
    """Yield the files that statements outside of `.if` name; none if the view has no facts about files."""
    return (file for file in (named_files(view) if view.facts.files else ()) if file.statement.is_certain)


def _certificate_files(view: View, named: NamedFile) -> Iterator[tuple[str, FileFacts]]:
    """Yield the path and the facts of a certificate, or of each certificate in a directory or list."""
    path = next((path for path in named.paths if path in view.facts.files and view.facts.files[path].exists), "")
    if not path or named.kind not in (CERTIFICATE, LIST):
        return
    file = view.facts.files[path]
    yield from ((path_, view.facts.files[path_]) for path_ in (file.files or (path,)) if path_ in view.facts.files)


def _certificates(view: View) -> Iterator[tuple[NamedFile, str, datetime, datetime]]:
    """Yield each certificate with its path, the time when the certificate expires, and the current time."""
    for named in _certain_files(view):
        for path, file in _certificate_files(view, named):
            if file.expires and view.facts.now:
                yield named, path, file.expires, view.facts.now


def _label(named: NamedFile, path: str) -> str:
    """Return the name of a certificate as in the configuration; the path if the certificate is in a directory or list."""
    return named.name if posixpath.basename(named.name) == posixpath.basename(path) else path
