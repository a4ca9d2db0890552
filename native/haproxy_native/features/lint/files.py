"""Checks of the files that a configuration names: they are there, private keys are private, certificates do not end. Pure."""

import posixpath
from collections.abc import Iterator
from datetime import datetime, timedelta

from haproxy_native.features.lint.declared import words
from haproxy_native.features.lint.facts import File
from haproxy_native.features.lint.finding import Found
from haproxy_native.features.lint.named_files import CERTIFICATE, LIST, NamedFile, named_files
from haproxy_native.features.lint.view import View

_OTHERS_READ = 0o004
_DAY = "%Y-%m-%d"


def file_missing(view: View) -> Iterator[Found]:
    for named in _looked_at(view):
        there = [view.facts.files[path].is_there for path in named.paths if path in view.facts.files]
        if named.is_sure and not named.may_be_made and len(there) == len(named.paths) and not any(there):
            yield Found(named.statement, f"{named.name} is not there")


def certificate_ended(view: View) -> Iterator[Found]:
    for named, path, ends, now in _ends(view):
        if ends <= now:
            yield Found(named.statement, f"{_called(named, path)} ended on {ends:{_DAY}}")


def certificate_ends_soon(view: View) -> Iterator[Found]:
    for named, path, ends, now in _ends(view):
        if now < ends <= now + timedelta(days=words()["files"]["days"]):
            yield Found(named.statement, f"{_called(named, path)} ends on {ends:{_DAY}}")


def key_readable(view: View) -> Iterator[Found]:
    for named in _looked_at(view):
        for path, file in _files(view, named):
            if file.holds_key and file.mode & _OTHERS_READ:
                yield Found(named.statement, f"every user of the machine may read the key in {path} (mode {file.mode & 0o777:04o})")


def file_unused(view: View) -> Iterator[Found]:
    for path in view.facts.unused:
        yield Found(None, f"nothing names {posixpath.basename(path)}", path=path, number=1)


def _looked_at(view: View) -> Iterator[NamedFile]:
    """Yields the files that certain lines name; none if no file was read."""
    return (file for file in (named_files(view) if view.facts.files else ()) if file.statement.is_certain)


def _files(view: View, named: NamedFile) -> Iterator[tuple[str, File]]:
    """The certificate, or those of the directory or list."""
    path = next((path for path in named.paths if path in view.facts.files and view.facts.files[path].is_there), "")
    if not path or named.kind not in (CERTIFICATE, LIST):
        return
    file = view.facts.files[path]
    yield from ((path_, view.facts.files[path_]) for path_ in (file.files or (path,)) if path_ in view.facts.files)


def _ends(view: View) -> Iterator[tuple[NamedFile, str, datetime, datetime]]:
    for named in _looked_at(view):
        for path, file in _files(view, named):
            if file.ends and view.facts.now:
                yield named, path, file.ends, view.facts.now


def _called(named: NamedFile, path: str) -> str:
    return named.name if posixpath.basename(named.name) == posixpath.basename(path) else path
