"""Which lines of a configuration refer to a file: by its path, by a relative one, or by the directory that holds it.

A path may lead through links and `..`, which are followed on the disk as HAProxy follows them; all else is pure. When in doubt a line
refers: at worst that costs a reload, or an answer that names the line.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.parts import first_lines
from haproxy_native.text.section import BOUNDARY
from haproxy_native.text.words import unquoted

# What stands around a path within one word: map(/x/a.map,none), opt@/x/a.map, crt:/x.
_PARTS = re.compile(r"[(),=]|(?:opt|file|virt)@")
# A directive that says where relative paths begin, and one that loads a script, which may load another.
_BASE, _SCRIPT = "-base", "lua-"
# The end of the other one, for maps and ACLs, and how their names may begin.
_DEFAULT, _PREFIX = "-path", re.compile(r"(?:opt|file|optfile)@")


class Reference(NamedTuple):
    """`line` counts from 1 in its file."""

    section: str
    line: int
    keyword: str
    text: str


def references(document: Document, path: str, directory: str = "/") -> list[Reference]:
    """The lines that refer to a file. `directory`: where relative paths begin, that of the configuration file."""
    return list(_found(document, posixpath.normpath(path), bases(document, directory)))


def _found(document: Document, path: str, bases: list[str]) -> Iterator[Reference]:
    for at, section in enumerate(document.sections):
        if section.kind != BOUNDARY and may_refer(section.text, path):
            for place, line in enumerate(section.lines):
                if refers(line, path, bases):
                    number = first_lines(document)[at] + place
                    yield Reference(f"{section.kind} {section.name}".rstrip(), number, line.args[0], line.text.strip())


def may_refer(text: str, path: str) -> bool:
    """Return whether some line of a text may refer to a file: quick, and true for every text with a line that does."""
    name, holder = posixpath.basename(path), posixpath.basename(posixpath.dirname(path))
    return name in text or holder in text or "./" in text or " ." in text or (name.endswith(".lua") and _SCRIPT in text)


def unreferenced(document: Document, paths: Sequence[str], directory: str = "/") -> list[str]:
    """Return the paths that no line refers to, in one pass over the lines. `paths` are normal; `directory` as in `references`."""
    where, scripts = bases(document, directory), False
    own = frozenset(posixpath.basename(path) for path in paths)
    seen, open_words = set[str](), list[str]()
    for line in (line for section in document.sections if section.kind != BOUNDARY for line in section.lines):
        if not line.words or _is_base(line):
            continue
        scripts = scripts or line.words[0].startswith(_SCRIPT)
        for word in line.words[1:]:
            if "$" in word:
                open_words.append(word)
            if "/" in word or "." in word or not own.isdisjoint(_PARTS.split(unquoted(word))):
                seen.update(_paths(word, where, own))

    def is_named(path: str) -> bool:
        is_open = any(posixpath.basename(path) in word for word in open_words)
        directory = posixpath.dirname(path)
        places = (path, f"{directory}/", posixpath.join(real(directory), posixpath.basename(path)))
        return is_open or (scripts and path.endswith(".lua")) or not seen.isdisjoint(places)

    return [path for path in paths if not is_named(path)]


def _paths(word: str, bases: list[str], own: frozenset[str]) -> Iterator[str]:
    """Yield what a word may name: files as paths, and directories as paths that end in a slash."""
    for part in filter(None, _PARTS.split(unquoted(word))):
        for base in bases:
            joined = posixpath.join(base, part)
            path = posixpath.normpath(joined)
            if posixpath.basename(path) in own:
                yield path
                yield posixpath.join(real(posixpath.dirname(joined)), posixpath.basename(path))
            if part == "." or "/" in part:
                yield f"{path}/"


def bases(document: Document, directory: str) -> list[str]:
    """The directories where relative paths may begin."""
    lines = (line for section in document.sections if _BASE in section.text for line in section.lines)
    own = [line.args[1] for line in lines if len(line.args) > 1 and line.args[0].endswith(_BASE)]
    return list(dict.fromkeys((directory, origin(document, directory), *own)))


def origin(document: Document, directory: str) -> str:
    """Return where the relative paths of maps and ACLs begin: by `default-path`, else in the directory of the configuration."""
    for section in document.sections:
        for line in section.lines if _DEFAULT in section.text else ():
            match line.args:
                case (word, "origin", path, *_) if word.endswith(_DEFAULT):
                    return path
                case (word, "parent", *_) if word.endswith(_DEFAULT):
                    return posixpath.dirname(directory)
    return directory


def located(document: Document, directory: str, name: str) -> str:
    """Return the absolute path of a map or an ACL by the name that HAProxy has for it, without a prefix such as `opt@`; links stay."""
    return posixpath.join(origin(document, directory), _PREFIX.sub("", name, count=1))


def placed(path: str) -> str:
    """Return a path whose directory is real, so that each file has one."""
    return posixpath.join(real(posixpath.dirname(path)), posixpath.basename(posixpath.normpath(path)))


def real(directory: str) -> str:
    """Return a directory without links and `..`, as far as it exists. Looks at the disk."""
    return directory if "\0" in directory else posixpath.realpath(directory)


def refers(line: Line, path: str, bases: list[str]) -> bool:
    """Whether a line refers to a file, of which `path` is normal."""
    if not line.args or _is_base(line):
        return False
    if line.args[0].startswith(_SCRIPT) and path.endswith(".lua"):
        return True
    return any(_names(word, path, bases) for word in line.words[1:])


def _names(word: str, path: str, bases: list[str]) -> bool:
    if "$" in word and posixpath.basename(path) in word:
        return True
    for part in filter(None, _PARTS.split(unquoted(word))):
        # A directory stands for the files in it; a bare word is rather a name.
        if _is(part, path, bases) or ((part == "." or "/" in part) and _is(part, posixpath.dirname(path), bases)):
            return True
    return False


def _is(part: str, path: str, bases: list[str]) -> bool:
    return any(same(posixpath.join(base, part), path) for base in bases)


def same(place: str, path: str) -> bool:
    """Whether a path, however it is spelled, is that of a file, of which `path` is normal."""
    normal = posixpath.normpath(place)
    if normal == path:
        return True
    if posixpath.basename(normal) != posixpath.basename(path):
        return False
    return posixpath.basename(place) == posixpath.basename(path) and real(posixpath.dirname(place)) == real(posixpath.dirname(path))


def _is_base(line: Line) -> bool:
    return line.args[0].endswith(_BASE) or (line.args[0].endswith(_DEFAULT) and line.args[1:2] == ("origin",))


def named(value: str, path: str, bases: list[str]) -> Iterator[tuple[int, int]]:
    """Yields where the file's own name, the last element of its path, stands in a word as HAProxy reads it."""
    name, at = posixpath.basename(path), 0
    for sign in [*_PARTS.finditer(value), None]:
        end = sign.start() if sign else len(value)
        if value[at:end].endswith(name) and ("$" in value[at:end] or _is(value[at:end], path, bases)):
            yield end - len(name), end
        at = sign.end() if sign else end
