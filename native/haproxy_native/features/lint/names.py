"""Check names: find references to missing objects, unused objects, and ACLs with a condition among their values."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from itertools import zip_longest

from haproxy_native.editing.defaults_sections import DEFAULTS, named_defaults
from haproxy_native.features.lint.files import MAP, named_files_of
from haproxy_native.features.lint.finding import Violation
from haproxy_native.features.lint.view import Scope, Statement, View, condition_of, words
from haproxy_native.grammar.conditions import CONDITIONAL, CONDITIONS, PREDEFINED
from haproxy_native.grammar.synopsis import condition_at
from haproxy_native.references.kinds import Kind, kinds
from haproxy_native.references.lines import kinds_of, section_kinds
from haproxy_native.references.pattern import Pattern, arguments, up_to_condition, words_of
from haproxy_native.storage.list_files import parse_map_line
from haproxy_native.text.line import Line
from haproxy_native.text.words import unquoted

_TOKENS = re.compile(r"[(),/@\s]+")
_NEARNESS = 0.75
# Instead of the index of a section.
_BUILT_IN = -1
_CONDITIONS = frozenset(CONDITIONS)
# The word of a pattern with the placeholder `<>` of a name. A prefix such as `ring@`, or `/*` for a part of the object, may surround it.
_NAMES = re.compile(r"(?:\w+@)?<>(?:/\*)?")


def name_undefined(view: View) -> Iterator[Violation]:
    defined = {kind: _defined_names(view, kinds()[kind]) for kind in words()["names"]["kinds"]}
    for scope in view.scopes:
        for statement in (statement for statement in scope.statements if statement.is_certain):
            for kind, name in _references(statement):
                known = defined[kind]
                if name in known or set("%$") & set(name):
                    continue
                # Propose the most similar name.
                close = get_close_matches(name, known, 1, _NEARNESS) if len(known) < 10_000 else []
                line = re.sub(rf"(?<![\w.:-]){re.escape(name)}(?![\w.:-])", close[0], statement.text.strip(), count=1) if close else ""
                also = [known[close[0]]] if close and known[close[0]] not in (_BUILT_IN, statement.place) else []
                yield Violation(statement, f"there is no {section_kinds()[kind]} {name!r}", also, line)
            yield from _wrong_log_backend(view, statement)
    for scope in view.of_kind(*words()["listening"], *words()["serving"], DEFAULTS):
        source = named_defaults(view.document.sections[scope.place])
        if source and scope.header.is_certain and "$" not in source and unquoted(source) not in view.defaults:
            yield Violation(scope.header, f"there is no {DEFAULTS} {source!r}")


def _wrong_log_backend(view: View, statement: Statement) -> Iterator[Violation]:
    """Yield a violation if a statement sends logs to a backend without the mode for logs."""
    table = words()["names"]
    target = statement.words[1] if statement.words[0] == table["log_target"] and len(statement.words) > 1 else ""
    if not target.startswith(table["log_backend"]):
        return
    name = target.removeprefix(table["log_backend"])
    for scope in view.of_kind(section_kinds()["backend"]):
        if scope.name == name and scope.header.is_certain and scope.mode not in ("", table["log_mode"]):
            yield Violation(statement, f"{scope.title} has mode {scope.mode}, and logs need mode {table['log_mode']}", [scope.place])


def _defined_names(view: View, kind: Kind) -> dict[str, int]:
    """Return the names of the sections of a kind with their indices in the document; _BUILT_IN for names that HAProxy defines itself."""
    sections = {section_kinds()[kind_.name] for kind_ in kinds().values() if "/" not in kind_.name and kind in kinds_of(kind_)}
    built_in = dict.fromkeys(words()["names"]["known"].get(kind.name, ()), _BUILT_IN)
    return built_in | {scope.name: scope.place for scope in view.of_kind(*sections)}


def _references(statement: Statement) -> Iterator[tuple[str, str]]:
    """Yield the kind and the name of each object that a statement refers to."""
    by_word, only = _reference_patterns(), words()["names"]["only"].get(statement.words[0])
    rows = {row for word in statement.words for row in by_word.get(word, ()) if only is None or row[0] in only}
    if rows:
        plain = up_to_condition(words_of(Line(statement.text)))
        for kind, pattern in sorted(rows, key=lambda row: row[0]):
            yield from ((kind, unquoted(statement.text[span.start : span.end])) for span in pattern.spans(plain))
    calls = words()["names"]["calls"]
    if "(" in statement.text:
        for argument in (argument for word in statement.words for argument in arguments(word)):
            if argument.function in calls and argument.index == 0 and argument.text:
                yield calls[argument.function], argument.text


@cache
def _reference_patterns() -> dict[str, list[tuple[str, Pattern]]]:
    """Return the kinds and patterns of references, by the word before the name."""
    patterns: dict[str, list[tuple[str, Pattern]]] = {}
    for kind in words()["names"]["kinds"]:
        for text in kinds()[kind].lines:
            tokens = text.split()
            place = next(place for place, token in enumerate(tokens) if "<>" in token)
            if place and tokens[place - 1] != "..." and _NAMES.fullmatch(tokens[place]):
                pattern = Pattern(text, None)
                for word in tokens[place - 1].split("|"):
                    patterns.setdefault(word, []).append((kind, pattern))
    return patterns


def backend_unused(view: View) -> Iterator[Violation]:
    table = words()["names"]
    if any(scope.own(*table["others"]) for scope in view.scopes):
        return
    used = set(view.facts.used_backends)
    for scope in view.scopes:
        for statement in scope.statements:
            if statement.begins(words()["rules"]["routing"]) and ("$" in statement.text or "%" in statement.text):
                lookup = _lookup(view, statement)
                if lookup is None:
                    # The rule may choose any backend.
                    return
                used.update(value for _, value in lookup[1])
            given = statement.words if not statement.begins(*words()["with_defaults"]) else (statement.after(table["tracking"]),)
            used.update(token for word in given for token in _TOKENS.split(word))
    for scope in view.of_kind(section_kinds()["backend"]):
        if scope.name not in used and scope.header.is_certain and scope.header.is_known:
            yield Violation(scope.header, f"no line names {scope.title}")


def _lookup(view: View, statement: Statement) -> tuple[str, list[tuple[int, str]]] | None:
    """Return (path of the map in which a statement looks up a backend, values of the map with their line numbers).

    The default value of the lookup has line 0. Returns None if the statement is not a lookup, or the map was not read.
    """
    match = re.fullmatch(words()["names"]["lookup"], statement.words[1]) if len(statement.words) > 1 else None
    if match is None:
        return None
    files = [
        file
        for file in named_files_of(view, statement)
        if file.kind == MAP and file.name == match["file"].removeprefix(words()["files"]["path"])
    ]
    path = next(
        (path for file in files for path in file.paths if path in view.facts.files and view.facts.files[path].text is not None), None
    )
    if path is None:
        return None
    lines = (view.facts.files[path].text or "").split("\n")
    entries = [(number, entry.value) for number, line in enumerate(lines, 1) if (entry := parse_map_line(line))]
    return path, [*entries, *([(0, match["default"])] if match["default"] else [])]


def map_value_undefined(view: View) -> Iterator[Violation]:
    backends = _defined_names(view, kinds()["backend"])
    seen = set[str]()
    for scope in view.scopes:
        for statement in scope.own(words()["rules"]["routing"]):
            lookup = _lookup(view, statement) if "%[" in statement.text and statement.is_certain and view.facts.files else None
            if lookup is None or lookup[0] in seen:
                continue
            seen.add(lookup[0])
            wrong = [(number, value) for number, value in lookup[1] if value not in backends]
            if wrong:
                number, value = wrong[0]
                more = f", and {len(wrong) - 1} more values name none" if len(wrong) > 1 else ""
                yield Violation(statement, f"there is no backend {value!r}{more}", path=lookup[0] if number else "", number=number)


def acl_undefined(view: View) -> Iterator[Violation]:
    for scope in view.scopes:
        for statement, name in _acl_names(scope):
            if statement.is_certain and name not in scope.acls and name not in PREDEFINED and "$" not in name:
                close = get_close_matches(name, scope.acls, 1, _NEARNESS)
                line = re.sub(rf"(?<![^\s!]){re.escape(name)}(?!\S)", close[0], statement.text.strip()) if close else ""
                yield Violation(statement, f"{scope.title} has no ACL {name!r}", line=line)


def acl_unused(view: View) -> Iterator[Violation]:
    for scope in view.scopes:
        # A condition with an environment variable may name any ACL.
        if not scope.acls or any(not line.is_known for line in scope.statements if not _CONDITIONS.isdisjoint(line.words)):
            continue
        used = {name for _, name in _acl_names(scope)}
        for name, lines in scope.acls.items():
            if name not in used and lines[0].is_certain and lines[0].is_known:
                yield Violation(lines[0], f"no line of {scope.title} asks for {name!r}")


def _acl_names(scope: Scope) -> Iterator[tuple[Statement, str]]:
    """Yield each reference to an ACL in a section, with its statement."""
    for statement in scope.statements:
        if (
            not _CONDITIONS.isdisjoint(statement.words)
            and statement.begins(*CONDITIONAL)
            and condition_at(statement.words, 1) < len(statement.words)
        ):
            yield from ((statement, test.name) for test in condition_of(statement.words, 1).tests if test.name)
        if "acl(" in statement.text:
            for argument in (argument for word in statement.words for argument in arguments(word)):
                if argument.function == words()["acl_call"]:
                    yield statement, argument.text.lstrip("!")


def acl_with_condition(view: View) -> Iterator[Violation]:
    table = words()["rules"]
    for scope in view.scopes:
        for name, lines in scope.acls.items():
            for statement in lines:
                sample, *values = statement.words[2:]
                for word, following in zip_longest(values, values[1:], fillvalue=""):
                    # A word such as `or` was probably meant as an operator if the sample or the name of an ACL follows.
                    is_or = word.lower() in table["or"] and following and (following == sample or following.lstrip("!") in scope.acls)
                    if (word in table["in_patterns"] or is_or) and statement.is_certain:
                        yield Violation(statement, f"{word!r} is one of the values that {name!r} is compared with")
                        break
