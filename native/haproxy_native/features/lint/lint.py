"""Lint a configuration: read the files that the configuration names, run the checks, and leave out findings that comments switch off.

`gather_facts` reads the files, and `findings` runs the checks. `Linting` calls both for the configuration of an engine, and the command
`dataplaneapi lint` calls them for files.
"""

import math
import os
import posixpath
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from haproxy_native.editing.file_references import unreferenced
from haproxy_native.editing.object_names import spelled
from haproxy_native.editing.secrets import masked_lines, masked_text
from haproxy_native.engine import Engine
from haproxy_native.errors import NativeError, Unusable
from haproxy_native.features.lint.files import CERTIFICATE, LIST, MAP, OTHER, named_files
from haproxy_native.features.lint.finding import Check, Finding, Violation, checks
from haproxy_native.features.lint.view import Facts, FileFacts, Statement, View
from haproxy_native.references.object_references import object_of
from haproxy_native.storage import list_files
from haproxy_native.storage.certificate import holds_key, parse_certificates
from haproxy_native.text.document import Document
from haproxy_native.text.parts import first_lines
from haproxy_native.threads import run_in_thread

_IGNORE = re.compile(r"(?:^|[\s#;])lint:\s*ignore=([\w*-]+(?:\s*,\s*[\w*-]+)*)")
_ALL = "*"


@dataclass(frozen=True)
class ConfigurationOrigin:
    """How findings name the files of a configuration."""

    # The path of the main configuration file.
    main: str = ""
    # Returns the object name of a stored file from its path; empty for any other file.
    stored: Callable[[str], str] = lambda path: ""


def findings(
    document: Document, facts: Facts | None = None, origin: ConfigurationOrigin | None = None, wanted: Iterable[Check] = ()
) -> list[Finding]:
    """Run all checks, or only the `wanted` checks, and return their findings in the order of the configuration.

    `facts` has the facts about other files. If `facts` is None, checks of files find nothing.
    """
    view = View(document, facts)
    ignored = _Ignored(view)
    first, origin = first_lines(document), origin or ConfigurationOrigin()
    violations = [(check, violation) for check in wanted or checks().values() for violation in function_of(check)(view)]
    reported = [(check, violation) for check, violation in violations if not ignored.is_off(check.id, violation.statement)]

    def position(row: tuple[Check, Violation]) -> tuple[float, int, str]:
        check, violation = row
        # Violations without a statement come last.
        at = violation.statement
        return (at.place, at.number, check.id) if at else (math.inf, 0, check.id)

    return [_finding(view, first, origin, check, violation) for check, violation in sorted(reported, key=position)]


def function_of(check: Check) -> Callable[[View], Iterator[Violation]]:
    """Return the function that finds the violations of a check."""
    module = import_module(f"haproxy_native.features.lint.{check.module}")
    function: Callable[[View], Iterator[Violation]] = getattr(module, check.id.replace("-", "_"))
    return function


def _finding(view: View, first: Sequence[int], origin: ConfigurationOrigin, check: Check, violation: Violation) -> Finding:
    """Return the finding for a violation, with secrets masked. `first` has the number of the first line of each section."""
    document, at = view.document, violation.statement
    others = [object_of(document, place) for place in violation.also]
    object_, file, line, title, text = "", "", 0, "", ""
    if at:
        object_, section = object_of(document, at.place), document.sections[at.place]
        file, line = section.file or origin.main, first[at.place] + at.number
        title, text = view.by_place[at.place].title, masked_lines(at.text.strip())
    if violation.path:
        others += [object_] if at else []
        object_, file, line = origin.stored(violation.path) or "file", violation.path, violation.number
    return Finding(
        check.id,
        check.severity,
        file,
        line,
        title,
        text,
        masked_text(violation.what),
        check.reason,
        check.mend,
        object_,
        masked_lines(violation.line),
        tuple(dict.fromkeys(others)),
    )


class _Ignored:
    """The checks that comments switch off.

    A comment above a line or at its end is for the line, a comment at the header of a section for the section, and a comment at the top of
    the file for everything.
    """

    def __init__(self, view: View) -> None:
        document = view.document
        self._everywhere = _ids([document.preamble])
        self._sections: dict[int, frozenset[str]] = {}
        self._lines: dict[tuple[int, int], frozenset[str]] = {}
        for place, section in enumerate(document.sections):
            if "lint:" in section.lead or "lint:" in section.text:
                self._sections[place] = _ids([section.lead, section.header.comment or ""])
                above = frozenset[str]()
                for number, line in enumerate(section.lines):
                    ids = above | _ids([line.comment or ""])
                    if not line.is_comment:
                        self._lines[place, number] = ids
                    # Comments apply to the next line that is not a comment.
                    above = ids if line.is_comment else frozenset()

    def is_off(self, id_: str, at: Statement | None) -> bool:
        """Return whether a check is switched off for a statement."""
        switched_off = [self._everywhere]
        if at:
            switched_off += [self._sections.get(at.place, frozenset()), self._lines.get((at.place, at.number), frozenset())]
        return any(id_ in ids or _ALL in ids for ids in switched_off)


def _ids(texts: Iterable[str]) -> frozenset[str]:
    """Return the ids of checks after `lint: ignore=` in comments."""
    return frozenset(id_.strip() for text in texts for match in _IGNORE.finditer(text) for id_ in match[1].split(","))


# If a line names `site.pem`, HAProxy also loads the files with these extensions (HAProxy Configuration Manual, section 5.1, crt).
BUNDLED = (".rsa", ".ecdsa", ".dsa")
# The size in bytes of the largest file that is read, and how many files of a directory are read.
LARGEST, MOST = 1 << 23, 10_000


def gather_facts(document: Document, directory: str, quotable: Callable[[str], bool] = lambda path: True) -> Facts:
    """Read the files that a document names, and return the facts about them. Blocks.

    `directory`: the directory in which relative paths begin. Findings quote values of maps, so only maps whose path is `quotable` are read.
    """
    view = View(document, Facts(directory))
    files: dict[str, FileFacts] = {}
    for named in named_files(view):
        for path in named.paths:
            if path not in files or (named.kind == MAP and files[path].text is None):
                files[path] = _read_file(path, OTHER if named.kind == MAP and not quotable(path) else named.kind)
            for file in files[path].files:
                if file not in files:
                    files[file] = _read_file(file, CERTIFICATE)
    splits = (list_files.parse_split(file.text) for file in files.values() if file.text is not None)
    used = frozenset(name for split in splits if split for name in split.weights)
    return Facts(directory, datetime.now(UTC), files, used_backends=used)


def _read_file(path: str, kind: str) -> FileFacts:
    """Return the facts about a file. A file that cannot be read counts as existing. Blocks."""
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            files = sorted(entry.path for entry in os.scandir(path) if entry.is_file())[:MOST] if kind == CERTIFICATE else []
            return FileFacts(True, files=tuple(files))
        if kind not in (CERTIFICATE, LIST, MAP) or not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            return FileFacts(True, status.st_mode)
        data = Path(path).read_bytes()
        if kind == CERTIFICATE:
            expires = None
            # The file may contain only a key.
            with suppress(NativeError, ValueError):
                expires = parse_certificates(data).served.not_valid_after_utc
            return FileFacts(True, status.st_mode, holds_key(data), expires)
        text = data.decode("utf-8", "surrogateescape")
        if kind == MAP:
            return FileFacts(True, status.st_mode, text=text)
        first_words = [line.split("[")[0].split()[:1] for line in text.split("\n")]
        names = [words[0] for words in first_words if words and not words[0].startswith(("#", "@"))]
        directory = posixpath.dirname(path)
        return FileFacts(True, status.st_mode, files=tuple(posixpath.normpath(posixpath.join(directory, name)) for name in names))
    except FileNotFoundError:
        return FileFacts(False)
    except (OSError, ValueError):
        return FileFacts(True)


class Linting:
    """Lints the configuration of one engine. `used` has the backends that service discovery updates; these backends count as used."""

    def __init__(self, engine: Engine, used: Iterable[str] = ()) -> None:
        self._engine, self._used = engine, frozenset(used)

    async def findings(self, transaction_id: str | None = None, may_read: Callable[[str], bool] | None = None) -> list[Finding]:
        """Return the findings for the configuration of a transaction, or for the committed configuration. Raises NoTransaction.

        If `may_read` is False for an object of a finding, the finding is left out.
        """
        document = self._engine.read(transaction_id)
        staged = self._engine.context.transactions.staged(transaction_id).files if transaction_id else {}
        found = await run_in_thread(self._find, document, {str(path): file.is_there for path, file in staged.items()})
        return [finding for finding in found if may_read is None or all(map(may_read, (finding.object, *finding.others)))]

    def _find(self, document: Document, staged: Mapping[str, bool]) -> list[Finding]:
        """Return all findings. `staged` has the files that the transaction changes, and whether they will exist. Blocks."""
        main = os.path.abspath(self._engine.context.current.path)
        base = os.path.abspath(self._engine.context.base(document))
        # A configuration may name any file, but clients may read stored files only. So findings quote values of stored maps only.
        facts = gather_facts(document, base, lambda path: bool(self._object_of(path)))
        stored = set[str]()
        for store in self._engine.stores.values():
            with suppress(Unusable):
                stored.update(map(str, store.files()))
        # A stored file is used if a line or a list of certificates names it. A line may also name the bundle of a certificate.
        listed = {path for file in facts.files.values() for path in file.files}
        bundles = {path: next((path.removesuffix(end) for end in BUNDLED if path.endswith(end)), path) for path in sorted(stored)}
        unnamed = set(unreferenced(document, [*bundles, *set(bundles.values())], base))
        unused = [path for path, bundle in bundles.items() if {path, bundle} <= unnamed and path not in listed]
        files = {**facts.files, **{path: FileFacts(exists) for path, exists in staged.items()}}
        facts = replace(facts, files=files, unused=unused, used_backends=self._used | facts.used_backends)
        return findings(document, facts, ConfigurationOrigin(main, self._object_of))

    def _object_of(self, path: str) -> str:
        """Return the object name of a stored file from its path; empty for any other file."""
        store = self._engine.stores.find_store(Path(path))
        return spelled(store.kind, posixpath.basename(path)) if store else ""
