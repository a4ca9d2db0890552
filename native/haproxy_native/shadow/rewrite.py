"""Rewrite a configuration for a shadow: listeners get private sockets, servers get the address of its standard input, rules get marks.

Each line becomes one line or none, so HAProxy's messages about a line of the shadow refer to one line of the configuration. There is one
exception: if marks make a rule too long, terms of its condition become lines of their own above the rule.

A mark is a term that always holds and whose evaluation appends an identifier to a variable of the stream. HAProxy evaluates the terms of a
condition from left to right and stops at the first that decides. So the mark after a term is evaluated if that term holds, and the mark at
the end of the condition if the rule applies. No term is evaluated twice. (HAProxy Configuration Manual, section 7.2, "Using ACLs to form
conditions"; section 7.3.1, converter `set-var`)
"""

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from haproxy_native.grammar.conditions import OR, UNLESS, suites, terms
from haproxy_native.grammar.synopsis import condition_at
from haproxy_native.text.document import MARK_END, Document
from haproxy_native.text.line import Line
from haproxy_native.text.pieces import split_lines
from haproxy_native.text.section import BOUNDARY, CONDITIONALS, Section
from haproxy_native.text.words import unquoted


@cache
def words() -> dict[str, Any]:
    """Return the content of words.toml: the keywords that this module knows."""
    return tomllib.loads((Path(__file__).parent / "words.toml").read_text())


@cache
def listener_words() -> dict[str, int]:
    """Return the words of a listener that a shadow keeps, with the number of their arguments."""
    return _arguments(words()["listener"])


@cache
def server_words() -> dict[str, int]:
    """Return the words of a server that a shadow keeps, with the number of their arguments."""
    return _arguments(words()["server"])


def definition() -> str:
    """Return the keyword of lines that define an ACL."""
    return str(words()["rules"]["definition"])


@cache
def ending() -> re.Pattern[str]:
    """Return the pattern of rules with which HAProxy answers or drops a request itself, without sending it to a server."""
    return re.compile(words()["rules"]["ending"].replace("\\\n", ""))


@cache
def unknown() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return patterns of lines that may have a different effect in a shadow, each with the reason."""
    return tuple((re.compile(row["pattern"]), row["why"]) for row in words()["unknown"])


@cache
def health() -> re.Pattern[str]:
    """Return the pattern of lines whose effect depends on the states of servers."""
    return re.compile(words()["health"]["pattern"])


def why_health() -> str:
    """Return why a line that matches `health` may have a different effect in a shadow."""
    return str(words()["health"]["why"])


@cache
def lasting() -> re.Pattern[str]:
    """Return the pattern of rules that affect later requests by other means than stick tables."""
    return re.compile(words()["lasting"])


@cache
def dropped() -> dict[str, list[list[str]]]:
    """Return the beginnings of the lines of a proxy that a shadow omits, as lists of words, by the first word of each."""
    phrases: dict[str, list[list[str]]] = {}
    for phrase in words()["proxy"]["dropped"]:
        phrases.setdefault(phrase.split()[0], []).append(phrase.split())
    return phrases


def begins(line: tuple[str, ...] | list[str], phrase: str) -> bool:
    """Return whether the words of a line begin with the words of `phrase`."""
    first = phrase.split()
    return list(line[: len(first)]) == first


def keep_words(line: list[str], kept: dict[str, int]) -> list[str]:
    """Return only those words of a line that are in `kept`, with their arguments. `kept`: the number of arguments of each word."""
    out, at = list[str](), 0
    while at < len(line):
        number = kept.get(line[at])
        out += line[at : at + 1 + number] if number is not None else []
        at += 1 + (number or 0)
    return out


def drop_words(line: list[str], dropped: dict[str, int]) -> list[str]:
    """Return the line without the words in `dropped` and their arguments. `dropped`: the number of arguments of each word."""
    out, at = list[str](), 0
    while at < len(line):
        number = dropped.get(line[at])
        out += line[at : at + 1] if number is None else []
        at += 1 + (number or 0)
    return out


def _arguments(table: dict[str, Any]) -> dict[str, int]:
    return {**dict.fromkeys(table["flags"], 0), **dict.fromkeys(table["values"], 1)}


# The variables that collect the identifiers of marks: for rules of a connection, which has no stream yet, and for all others.
SESSION, STREAM = "sess.__marks", "txn.__marks"
SEPARATOR = "."


@dataclass(frozen=True)
class Mark:
    """A mark in a rule. It shows that `term` of the rule's condition held or, if `term` is empty, that the rule applied."""

    term: str = ""


def add_marks(words: Sequence[str], start: int, variable: str, new: Callable[[Mark], str]) -> list[str]:
    """Return the words of a rule with marks in its condition. A rule without a condition gets a condition that consists of a mark.

    `new` returns the identifier of a mark. `start`: the index of the first word at which the condition may begin. `variable`: the variable
    that collects the identifiers.
    """
    at = condition_at(words, start)
    if at == len(words):
        return [*words, "if", *_term(variable, new(Mark()), holds=True)]
    is_negative = words[at] == UNLESS
    out = list(words[: at + 1])
    for number, suite in enumerate(suites(words[at + 1 :])):
        out += [OR[0]] if number else []
        for term in suite:
            out += [*term, *_term(variable, new(Mark(" ".join(term))), holds=True)]
        if not is_negative:
            out += _term(variable, new(Mark()), holds=True)
    # Evaluated if no suite holds, which is when `unless` applies.
    return [*out, OR[0], *_term(variable, new(Mark()), holds=False)] if is_negative else out


def _term(variable: str, identifier: str, *, holds: bool) -> list[str]:
    match = ["-m", "found"] if holds else ["-m", "len", "0"]
    return ["{", f"var({variable},),concat({SEPARATOR}{identifier}),set-var({variable})", *match, "}"]


# The most bytes of a request, of its marks, and of its log line.
BUFFER = 65_536
CLI, PEER = "cli", "peer"
# A server that HAProxy reaches through its standard input.
ECHO = "sockpair@0"
MOST_VARIABLES = 64
# The most words of a line.
MOST_WORDS = 64
_NOTHING = {SESSION: "set-var(sess.__none)", STREAM: "set-var(txn.__none)"}
_SET = re.compile(r"set-var(?:-fmt)?\(((?:txn|sess)\.[A-Za-z0-9_.]+)")
_KEYWORD = re.compile(r"[\w.-]+")
# Characters with which the first word of a line need not be the keyword itself.
_QUOTING = re.compile(r"[\"'\\$]")
# The beginning of the log lines in this module's format. Lua programs write other lines.
OWN = "shadow"
_FIELDS = (OWN, "%f", "%b", "%s", "%ST", "%ts", f"%[var({SESSION})]", f"%[var({STREAM})]", "%[last_rule_line]")
_ERROR_FIELDS = (*_FIELDS[:2], "", "", "-1", "", _FIELDS[6], "", "")


@dataclass(frozen=True)
class SourceLine:
    """A line of the configuration, and where it is."""

    file: str | None
    line: int
    text: str
    section: str


@dataclass(frozen=True)
class MarkedRule:
    """A mark of the rewritten configuration: the rule to which it belongs, and the term that it follows."""

    place: SourceLine
    # The term of its condition after which the mark is; empty if the mark shows that the rule applies.
    term: str

    @property
    def is_lasting(self) -> bool:
        """Whether the rule affects later requests if it applies."""
        return not self.term and bool(lasting().search(self.place.text))


@dataclass(frozen=True)
class FrontendListener:
    """A listener of a frontend."""

    frontend: str
    place: SourceLine
    address: str
    name: str
    # The file name of its private socket.
    socket: str
    is_tls: bool
    # http or tcp.
    mode: str


@dataclass
class Shadow:
    """A rewritten configuration."""

    text: str = ""
    # The line of the configuration, by the number of the line in `text`, from 1.
    places: dict[int, SourceLine] = field(default_factory=dict)
    # By the identifier of the mark.
    rules: dict[str, MarkedRule] = field(default_factory=dict)
    listeners: list[FrontendListener] = field(default_factory=list)
    # The lines of each ACL, by its section and name.
    acls: dict[tuple[str, str], list[SourceLine]] = field(default_factory=dict)
    # The lines whose effect in a shadow may be different, and why, by section.
    doubtful: dict[str, list[tuple[SourceLine, str]]] = field(default_factory=dict)
    # The lines that depend on the states of servers, by section.
    by_health: dict[str, list[SourceLine]] = field(default_factory=dict)
    # Whether it has stick tables.
    has_tables: bool = False
    # The numbers of the lines in `text` that answer a URI without a log line, by that URI.
    silent: dict[str, list[int]] = field(default_factory=dict)

    def doubt(self, source: SourceLine, why: str) -> None:
        """Record that the effect of a line may be different in the shadow."""
        self.doubtful.setdefault(source.section, []).append((source, why))


def rewrite_document(document: Document, directory: Path, home: Path) -> Shadow:
    """Rewrite a document for a shadow whose sockets are in `directory`. Relative paths begin in `home`, the directory of the main file."""
    return _Rewriter(document, directory, home).shadow


def identifiers(marks: str) -> list[str]:
    """Return the identifiers in the value of a variable that collects marks, each once."""
    return list(dict.fromkeys(mark for mark in marks.split(SEPARATOR) if mark not in ("", "-")))


class _Rewriter:
    def __init__(self, document: Document, directory: Path, home: Path) -> None:
        self.shadow = Shadow()
        self._directory, self._home = directory, home
        self._lines: list[str] = []
        self._modes = _Modes(document)
        self._variables = sorted(set(_SET.findall(document.text)))[:MOST_VARIABLES]
        self._made: dict[str, str] = {}
        self._add("global")
        self._add(*words()["additions"]["first"])
        self._numbers: dict[str | None, int] = {}
        self._rewrite_above(document.preamble, None)
        self._file: str | None = None
        for section in document.sections:
            self._rewrite_section(section)
        own = words()["additions"]["names"]
        if not any(" ".join(map(_bare, section.header.words)) == own for section in document.sections):
            self._add(own)
        self.shadow.text = "".join(f"{line}\n" for line in self._lines)
        for number, source in self.shadow.places.items():
            first, *rest = source.text.split(None, 2)
            if first == definition() and rest:
                self.shadow.acls.setdefault((source.section, rest[0]), []).append(source)
            for pattern, why in unknown():
                if pattern.search(source.text):
                    self.shadow.doubt(source, why)
            if health().search(source.text):
                self.shadow.by_health.setdefault(source.section, []).append(source)
            if first == words()["silent"] and rest:
                self.shadow.silent.setdefault(rest[0], []).append(number)
            self.shadow.has_tables = self.shadow.has_tables or first in words()["tables"]

    def _add(self, *templates: str) -> None:
        for template in templates:
            if template not in self._made:
                fields = [*_FIELDS, *(f"{name}=%[var({name}),url_enc]" for name in self._variables)]
                names = {name: self._directory / name for name in (CLI, PEER)}
                values: dict[str, Any] = {"buffer": BUFFER, "longest": BUFFER - 1000, "fields": "|".join(fields)}
                self._made[template] = template.format(**names, **values, error_fields="|".join(_ERROR_FIELDS))
            self._lines.append(self._made[template])

    def _rewrite_section(self, section: Section) -> None:
        if section.kind == BOUNDARY:
            self._file = section.name or None
            self._rewrite_above(section.text.rpartition(MARK_END)[2], self._file)
            return
        start = self._numbers[self._file] + section.lead.count("\n")
        self._numbers[self._file] = start + len(section.lines)
        is_kept, header = section.kind in words()["sections"] and self._modes.is_kept(section), section.header.text.strip()
        for number, line in enumerate(section.lines, start + 1):
            source = SourceLine(section.file, number, line.text.strip(), header)
            if text := self._rewrite_line(section, line, source) if is_kept else _conditional_line(line):
                self._lines.append(text)
                self.shadow.places[len(self._lines)] = source
        if not is_kept:
            return
        additions = words()["additions"]
        if section.kind in words()["proxies"]:
            self._add(*additions["proxy"])
        if section.kind in words()["listening"]:
            self._add(*additions["listening"])
        self._add(*additions.get(section.kind, ()))

    def _rewrite_above(self, text: str, file: str | None) -> None:
        """Rewrite the lines above the first section of a file."""
        start = self._numbers.get(file, 0)
        self._numbers[file] = start + text.count("\n")
        for number, line in enumerate(map(Line, split_lines(text)), start + 1):
            if written := _conditional_line(line):
                self._lines.append(written)
                self.shadow.places[len(self._lines)] = SourceLine(file, number, line.text.strip(), "")

    def _rewrite_line(self, section: Section, line: Line, source: SourceLine) -> str:
        own = [_bare(word) for word in line.words]
        if not own:
            return ""
        if line is section.header or own[0].startswith("."):
            return " ".join(own)
        if _QUOTING.search(own[0]):
            self.shadow.doubt(source, f"what {own[0]} is")
            return ""
        if section.kind == "global":
            about = words()["global"]
            if own[0] == about["base"] and own[1:2] in (["config"], ["parent"]):
                return f"{own[0]} origin {self._home if own[1] == 'config' else self._home.parent}"
            if own[0].startswith(tuple(about["dropped"])) or not own[0].startswith(tuple(about["kept"])):
                return ""
            return " ".join(own)
        if section.kind in words()["proxies"]:
            return self._rewrite_proxy_line(section, own, source)
        rest = words()["others"].get(section.kind, {})
        if own[0] in rest.get("dropped", ()) or own[0] not in rest.get("kept", own):
            return ""
        return " ".join(drop_words(own, rest.get("without", {})))

    def _rewrite_proxy_line(self, section: Section, own: list[str], source: SourceLine) -> str:
        about = words()["proxy"]
        if any(own[: len(phrase)] == phrase for phrase in dropped().get(own[0], ())):
            return ""
        if own[0] == words()["listener"]["begins"]:
            return self._rewrite_listener(section, own, source)
        if (before := about["servers"].get(own[0])) is not None:
            if isinstance(before, str):
                return before.format(echo=ECHO)
            if before:
                return " ".join([*own[:before], ECHO, *keep_words(own[before + 1 :], server_words())])
            options = keep_words(own[1:], server_words())
            return " ".join([own[0], *options]) if options else ""
        if own[0] in about["filters"]["begin"]:
            if own[1:2] and own[1] in about["filters"]["kept"]:
                return " ".join(own)
            self.shadow.doubt(source, f"what {' '.join(own[:2])} does")
            return ""
        if replaced := next((text for phrase, text in about["replaced"].items() if begins(own, phrase)), ""):
            return str(replaced)
        return self._rewrite_rule(drop_words(own, about["without"].get(own[0], {})), source)

    def _rewrite_listener(self, section: Section, own: list[str], source: SourceLine) -> str:
        about = words()["listener"]
        if why := next((why for begin, why in about["not_private"].items() if len(own) > 1 and own[1].startswith(begin)), ""):
            self.shadow.doubt(source, why)
        if why or len(own) < 2:
            return ""
        socket, words_ = f"b{len(self.shadow.listeners)}", keep_words(own[2:], listener_words())
        name = words_[words_.index("name") + 1] if "name" in words_[:-1] else ""
        is_tls, mode = about["tls"] in words_, self._modes.mode_of(section)
        self.shadow.listeners.append(FrontendListener(section.name, source, own[1], name, socket, is_tls, mode))
        return " ".join([own[0], f"unix@{self._directory / socket}", about["added"], *words_])

    def _rewrite_rule(self, own: list[str], source: SourceLine) -> str:
        about = words()["rules"]
        variable = SESSION if begins(own, about["connection"]) or begins(own, about["session"]) else STREAM
        family = next((phrase for phrase in (about["connection"], about["session"], *about["stream"]) if begins(own, phrase)), "")
        at = len(family.split())
        if not family or len(own) <= at:
            return " ".join(own)
        if variable is SESSION:
            own[:at] = about["session"].split()
        action = re.split(r"[(.]", own[at])[0]
        if action in about["dropped_actions"]:
            return ""
        if action in about["idle_actions"]:
            self.shadow.doubt(source, f"what {action} does")
            own = [*own[:at], _NOTHING[variable], "int(0)", *own[condition_at(own, at) :]]
        elif action == about["level_action"]:
            own[at + 1 : at + 2] = [about["level"]]

        def add_mark(mark: Mark) -> str:
            identifier = _base_36(len(self.shadow.rules))
            self.shadow.rules[identifier] = MarkedRule(source, mark.term)
            return identifier

        start = at if family in about["plain"] else at + 1
        text = add_marks(own, start, variable, add_mark)
        return " ".join(self._shorten_rule(text, condition_at(text, start) + 1) if len(text) > MOST_WORDS else text)

    def _shorten_rule(self, own: list[str], at: int) -> list[str]:
        """Return the words of a rule with fewer words: replace anonymous ACLs by names, and add lines that define these names.

        `at`: the index of the first word of the condition.
        """
        out = own[:at]
        for term in terms(own[at:]):
            opening = next((index for index, word in enumerate(term) if word.lstrip("!") == "{"), None)
            if opening is None:
                out += term
                continue
            name = f"__{len(self._lines)}"
            self._lines.append(" ".join([definition(), name, *term[opening + 1 : -1]]))
            out += [*term[:opening], term[opening].removesuffix("{") + name]
        return out


def _bare(word: str) -> str:
    """Return a word without its quotes if they have no meaning, because the patterns in words.toml match unquoted keywords."""
    return bare if "$" not in word and _KEYWORD.fullmatch(bare := unquoted(word)) else word


class _Modes:
    """The mode of each proxy. A proxy without a `mode` line inherits the mode of its defaults section."""

    def __init__(self, document: Document) -> None:
        self._modes: dict[int, str] = {}
        named: dict[str, str] = {}
        last = words()["modes"][0]
        for section in document.sections:
            if section.kind in words()["proxies"]:
                header = section.header.words
                above = named.get(header[header.index("from") + 1], last) if "from" in header[1:-1] else last
                own = (_bare(line.words[1]) for line in reversed(section.lines) if len(line.words) > 1 and _bare(line.words[0]) == "mode")
                mode = self._modes[id(section)] = next(own, above)
                if section.kind == words()["proxies"][0]:
                    last = named[section.name] = mode

    def mode_of(self, section: Section) -> str:
        return self._modes[id(section)]

    def is_kept(self, section: Section) -> bool:
        is_proxy = section.kind in words()["proxies"][1:]
        return not is_proxy or self.mode_of(section) in words()["modes"]


def _conditional_line(line: Line) -> str:
    """Return the text of a conditional line (`.if`), which may enclose other sections; empty for other lines."""
    return " ".join(line.words) if line.words and line.words[0] in CONDITIONALS else ""


def _base_36(number: int) -> str:
    digits, text = "0123456789abcdefghijklmnopqrstuvwxyz", ""
    while True:
        number, rest = divmod(number, len(digits))
        text = digits[rest] + text
        if not number:
            return text
