"""Edit the lines with which a frontend looks up the backend of a request in the map of a split.

The first line is for requests that have the key, such as a cookie. The second line chooses a backend at random for all other requests. The
first line needs a condition, because HAProxy does not try the next line if the map lacks a computed name: it uses the default backend.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from haproxy_native.editing.editor import Editor
from haproxy_native.editing.resources import Resource
from haproxy_native.errors import BadValue, Conflict, NotFound
from haproxy_native.planning.servers import USUAL_MODE, ancestors, mode_of
from haproxy_native.storage.list_files import BUCKETS
from haproxy_native.text.document import Document
from haproxy_native.text.section import Section

RANDOM, SOURCE, COOKIE, HEADER = "random", "source", "cookie", "header"
BY = re.compile(r"(random|source|(cookie|header):([A-Za-z0-9_.-]+))")
_PATH = re.compile(r"[A-Za-z0-9_./+-]+")
HTTP = "http"
# The kinds of sections that receive requests, with their collections.
FRONTENDS = {"frontend": "frontends", "listen": "listens"}
BACKENDS = ("backend", "listen")
RULES = "backend_switching_rules"
# A backend switching rule as the API represents it.
Rule = dict[str, str]


class LinesMissing(Conflict):
    """A frontend lacks the `lines` of a split, and the client has to act. The detail is the whole message.

    `frontend`: the name that the client has to send, so that the lines are added to that frontend; empty if the client may choose one;
    None if the client has to edit the frontend first.
    """

    label = ""

    def __init__(self, detail: str, lines: Sequence[str], frontend: str | None = None) -> None:
        super().__init__(detail)
        self.lines, self.frontend = lines, frontend


def rules(by: str, path: str) -> list[Rule]:
    """Return the rules that look up the map at `path` by a key, such as `cookie:NAME`, in their order. Raises BadValue."""
    if not _PATH.fullmatch(path):
        raise BadValue(f"the path of the map is not valid in a rule: {path}; use letters, digits and ./_+- only")
    at_random = {"name": f"%[rand({BUCKETS}),map_int({path})]"}
    if by == RANDOM:
        return [at_random]
    match = BY.fullmatch(by)
    if match is None:
        raise BadValue(f"by: unknown key {by!r}; expected random, source, cookie:NAME or header:NAME")
    if by == SOURCE:
        sample, has_key = "src", "{ src -m found }"
    else:
        sample = f"req.cook({match[3]})" if match[2] == COOKIE else f"req.fhdr({match[3]})"
        has_key = f"{{ {sample} -m len gt 0 }}"
    return [{"name": f"%[{sample},crc32(1),mod({BUCKETS}),map_int({path})]", "cond": "if", "cond_test": has_key}, at_random]


def needs_http(by: str) -> bool:
    """Return whether a key exists in HTTP requests only."""
    return by not in (RANDOM, SOURCE)


def lines(editor: Editor, rules: Sequence[Rule]) -> list[str]:
    """Return rules as lines of the configuration."""
    document = Document.parse("frontend f\n")
    frontend = document.sections[0]
    for rule in rules:
        document = _append_rule(editor, document, frontend, rule)
    return [line.text.strip() for line in document.sections[0].lines[1:]]


def installed(editor: Editor, document: Document, path: str) -> dict[str, list[Rule]]:
    """Return the rules that look up the map at `path`, by frontend. Frontends without such rules are left out."""
    frontends = [section for section in document.sections if section.kind in FRONTENDS]
    rules_by_frontend = {section.name: list(_lookup_rules(editor, document, section, path).values()) for section in frontends}
    return {name: rules for name, rules in rules_by_frontend.items() if rules}


def _lookup_rules(editor: Editor, document: Document, section: Section, path: str) -> dict[int, Rule]:
    """Return the rules of a frontend that look up the map at `path`, by their index among the backend switching rules."""
    if f"({path})" not in section.text:
        return {}
    rules = _switching_rules(editor, document, section)
    return {index: rule for index, rule in enumerate(rules) if f"({path})" in rule["name"]}


def _switching_rules(editor: Editor, document: Document, section: Section) -> list[Rule]:
    rows = editor.list_objects(document, editor.resources[RULES], _parent(editor, section))
    return [{name: row[name] for name in ("name", "cond", "cond_test") if name in row} for row in rows]


def _append_rule(editor: Editor, document: Document, section: Section, rule: Rule) -> Document:
    return editor.create(document, editor.resources[RULES], _parent(editor, section), rule)


def _parent(editor: Editor, section: Section) -> tuple[Resource, str]:
    return editor.resources[FRONTENDS[section.kind]], section.name


def mode(document: Document, section: Section) -> str:
    """Return the mode that a proxy has or inherits."""
    return mode_of((section, *ancestors(document, section))) or USUAL_MODE


def common_mode(document: Document, names: Sequence[str]) -> str:
    """Return the mode of the backends `names`. Raises BadValue if a backend does not exist, or if the modes differ."""
    modes: dict[str, str] = {}
    for name in names:
        section = next((backend for kind in BACKENDS if (backend := document.find(kind, name))), None)
        if section is None:
            raise BadValue(f"weights: backend {name} does not exist")
        modes.setdefault(mode(document, section), name)
    if len(modes) > 1:
        text = ", ".join(f"{name} has mode {kind}" for kind, name in modes.items())
        raise BadValue(f"weights: the backends of a split must have the same mode, but {text}")
    return next(iter(modes))


def check_frontend(document: Document, name: str, backend_mode: str) -> None:
    """Raise NotFound if there is no frontend of this name, and BadValue if the mode of the frontend is not `backend_mode`."""
    section = next((proxy for kind in FRONTENDS if (proxy := document.find(kind, name))), None)
    if section is None:
        raise NotFound(f"there is no frontend {name}")
    if mode(document, section) != backend_mode:
        raise BadValue(f"frontend {name} has mode {mode(document, section)}, but the backends have mode {backend_mode}")


@dataclass(frozen=True)
class PutRules:
    """The operation of a commit that adds the rules for a map to a frontend, as its last backend switching rules."""

    editor: Editor
    frontend: str
    rules: Sequence[Rule]
    path: str
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        return with_rules(self.editor, document, self.frontend, self.rules, self.path)


@dataclass(frozen=True)
class DropRules:
    """The operation of a commit that removes the rules for a map from all frontends."""

    editor: Editor
    path: str
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        return without_rules(self.editor, document, self.path)


def with_rules(editor: Editor, document: Document, frontend: str, rules: Sequence[Rule], path: str) -> Document:
    """Return the document with `rules` as the last backend switching rules of a frontend.

    Raises LinesMissing if another rule of the frontend applies to all requests.
    """
    document = without_rules(editor, document, path, frontend)
    section = next(proxy for kind in FRONTENDS if (proxy := document.find(kind, frontend)))
    if first := next((rule for rule in _switching_rules(editor, document, section) if "cond" not in rule), None):
        text = f"frontend {frontend} has a line that sends all requests to {first['name']}"
        raise LinesMissing(f"{text}; remove it, or put these lines before it", lines(editor, rules))
    for rule in rules:
        document = _append_rule(editor, document, section, rule)
    return document


def without_rules(editor: Editor, document: Document, path: str, frontend: str | None = None) -> Document:
    """Return the document without the rules that look up the map at `path`. `frontend`: the only frontend to change; None for all."""
    for section in document.sections:
        if section.kind in FRONTENDS and frontend in (None, section.name):
            for index in reversed(_lookup_rules(editor, document, section, path)):
                document = editor.delete(document, editor.resources[RULES], _parent(editor, section), index)
    return document
