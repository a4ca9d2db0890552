"""Find the lines of a configuration that refer to a file: by an absolute path, by a relative path, or by the path of the file's directory.

Links and `..` in a path are resolved on the disk, as HAProxy does. A line that may refer to the file is returned even if that is uncertain:
the worst effect is an unnecessary reload, or an error that names the line. The argument `path` is always absolute and normalized.
`directory` is the base of relative paths (`base_directory`), if no line sets another base.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.parts import first_lines
from haproxy_native.text.section import BOUNDARY, Section
from haproxy_native.text.words import quoted, unquoted

# What surrounds a path within one word: map(/x/a.map,none), opt@/x/a.map.
_PARTS = re.compile(r"[(),=]|(?:opt|file|virt)@")
# The end of directives such as crt-base, which set the directory of relative paths, and the beginning of directives that load a script. A
# script may load others.
_BASE, _SCRIPT = "-base", "lua-"
# The end of default-path, which sets the directory of maps and ACLs, and the prefixes of the names of maps and ACLs.
_DEFAULT, _PREFIX = "-path", re.compile(r"(?:opt|file|optfile)@")


class FileReference(NamedTuple):
    """A line that refers to a file."""

    # Keyword and name of the section.
    section: str
    # The line's number in its file, from 1.
    line: int
    keyword: str
    text: str


def references(document: Document, path: str, directory: str = "/") -> list[FileReference]:
    """Return the lines that refer to the file at `path`, in file order."""
    lines, path, where = [], posixpath.normpath(path), bases(document, directory)
    for at, section in enumerate(document.sections):
        if section.kind != BOUNDARY and may_refer(section.text, path):
            for place, line in enumerate(section.lines):
                if refers(line, path, where):
                    number = first_lines(document)[at] + place
                    lines.append(FileReference(f"{section.kind} {section.name}".rstrip(), number, line.args[0], line.text.strip()))
    return lines


def may_refer(text: str, path: str) -> bool:
    """Return False only if no line of a text can refer to the file at `path`. This test is faster than parsing the text."""
    name, holder = posixpath.basename(path), posixpath.basename(posixpath.dirname(path))
    return name in text or holder in text or "./" in text or " ." in text or (name.endswith(".lua") and _SCRIPT in text)


def unreferenced(document: Document, paths: Sequence[str], directory: str = "/") -> list[str]:
    """Return those of the paths to which no line refers. Reads each line only once."""
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
                seen.update(_paths_in_word(word, where, own))

    def is_named(path: str) -> bool:
        is_open = any(posixpath.basename(path) in word for word in open_words)
        directory = posixpath.dirname(path)
        places = (path, f"{directory}/", posixpath.join(real_directory(directory), posixpath.basename(path)))
        return is_open or (scripts and path.endswith(".lua")) or not seen.isdisjoint(places)

    return [path for path in paths if not is_named(path)]


def _paths_in_word(word: str, bases: list[str], own: frozenset[str]) -> Iterator[str]:
    """Yield the paths to which a word may refer. The path of a directory ends in a slash. `own`: the file names to look for."""
    for part in filter(None, _PARTS.split(unquoted(word))):
        for base in bases:
            joined = posixpath.join(base, part)
            path = posixpath.normpath(joined)
            if posixpath.basename(path) in own:
                yield path
                yield posixpath.join(real_directory(posixpath.dirname(joined)), posixpath.basename(path))
            if part == "." or "/" in part:
                yield f"{path}/"


def bases(document: Document, directory: str) -> list[str]:
    """Return the directories to which paths may be relative."""
    lines = (line for section in document.sections if _BASE in section.text for line in section.lines)
    own = [posixpath.join(directory, line.args[1]) for line in lines if len(line.args) > 1 and line.args[0].endswith(_BASE)]
    return list(dict.fromkeys((directory, map_directory(document, directory), *own)))


def map_directory(document: Document, directory: str) -> str:
    """Return the directory to which paths of maps and ACL files are relative: the one that `default-path` names, or else `directory`."""
    match _default_path(document):
        case ("origin", path, *_):
            return posixpath.join(directory, path)
    return directory


def base_directory(document: Document, configuration: str, working: str) -> str:
    """Return the base of relative paths: `working`, unless `default-path` chooses the directory of the configuration file or its parent.

    `configuration`: the directory of the configuration file. `working`: HAProxy's working directory. A directory that `default-path` names
    is not considered; `map_directory` returns it.
    """
    match _default_path(document):
        case ("config", *_):
            return configuration
        case ("parent", *_):
            return posixpath.dirname(configuration)
    return working


def _default_path(document: Document) -> Sequence[str]:
    """Return the arguments of the first `default-path` line; empty if there is no such line."""
    return next((section.lines[place].args[1:] for section, place in _lines_of_default_path(document)), ())


def _lines_of_default_path(document: Document) -> Iterator[tuple[Section, int]]:
    """Yield (section, index of the line) of each `default-path` line."""
    for section in document.sections:
        for place, line in enumerate(section.lines if _DEFAULT in section.text else ()):
            if line.args and line.args[0].endswith(_DEFAULT):
                yield section, place


def with_named_base(document: Document, configuration: str) -> Document:
    """Return the document with an absolute directory in `default-path`, so that relative paths stay valid in a copy at another place.

    `configuration`: the directory of the configuration file. Line numbers do not change.
    """
    directory = base_directory(document, configuration, "")
    for section, place in _lines_of_default_path(document) if directory else ():
        line = section.lines[place]
        text = f"{line.indent}{line.words[0]} origin {quoted(directory)}{section.newline}"
        return document.replace(section, section.with_lines((*section.lines[:place], Line(text), *section.lines[place + 1 :])))
    return document


def path_of_name(document: Document, directory: str, name: str) -> str:
    """Return the absolute path of a map or of an ACL file. Links are not resolved.

    `name`: its name in HAProxy, perhaps with a prefix such as `opt@`.
    """
    return posixpath.join(map_directory(document, directory), _PREFIX.sub("", name, count=1))


def real_path(path: str) -> str:
    """Return a path with links and `..` in its directory resolved, so that equal files have equal paths. Reads the disk."""
    return posixpath.join(real_directory(posixpath.dirname(path)), posixpath.basename(posixpath.normpath(path)))


def real_directory(directory: str) -> str:
    """Return the path of a directory with links and `..` resolved. Parts of the path that do not exist are kept. Reads the disk."""
    return directory if "\0" in directory else posixpath.realpath(directory)


def refers(line: Line, path: str, bases: list[str]) -> bool:
    """Return whether a line refers to the file at `path`. `bases`: the directories to which paths may be relative."""
    if not line.args or _is_base(line):
        return False
    if line.args[0].startswith(_SCRIPT) and path.endswith(".lua"):
        return True
    for word in line.words[1:]:
        if "$" in word and posixpath.basename(path) in word:
            return True
        for part in filter(None, _PARTS.split(unquoted(word))):
            # A directory refers to all files in it. A word without a slash is no directory.
            if _is_path_of(part, path, bases) or ((part == "." or "/" in part) and _is_path_of(part, posixpath.dirname(path), bases)):
                return True
    return False


def _is_path_of(part: str, path: str, bases: list[str]) -> bool:
    """Return whether `part`, relative to any of the directories `bases`, is the file or directory at `path`."""
    return any(is_same_file(posixpath.join(base, part), path) for base in bases)


def is_same_file(place: str, path: str) -> bool:
    """Return whether the paths `place` and `path` name the same file. May read the disk."""
    normal = posixpath.normpath(place)
    if normal == path:
        return True
    if posixpath.basename(normal) != posixpath.basename(path):
        return False
    return posixpath.basename(place) == posixpath.basename(path) and real_directory(posixpath.dirname(place)) == real_directory(
        posixpath.dirname(path)
    )


def _is_base(line: Line) -> bool:
    return line.args[0].endswith(_BASE) or (line.args[0].endswith(_DEFAULT) and line.args[1:2] == ("origin",))


def name_spans(value: str, path: str, bases: list[str]) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each occurrence of a file's name in `value`, a word without quotes. The name is the last element of `path`."""
    name, at = posixpath.basename(path), 0
    for sign in [*_PARTS.finditer(value), None]:
        end = sign.start() if sign else len(value)
        if value[at:end].endswith(name) and ("$" in value[at:end] or _is_path_of(value[at:end], path, bases)):
            yield end - len(name), end
        at = sign.end() if sign else end
