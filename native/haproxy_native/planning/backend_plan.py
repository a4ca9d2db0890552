"""Plan the backends that a change adds to the running process or deletes from it, by runtime commands or by a reload.

HAProxy adds a backend from a named defaults section that it has loaded: `add backend b from d`, then its servers, then `publish backend b`.
The command accepts only a few keywords, so any other line of the backend needs a reload, unless it repeats a line of the defaults section.

A backend can be deleted if nothing refers to it any more. HAProxy itself refuses a file with a rule that literally names a missing backend.
So this module searches only for names that HAProxy computes for each request: in rules with samples and converters
(`describe_dynamic_rule`). The caller searches the maps. Some lines prevent HAProxy from deleting a backend or its servers
(`deletion_obstacle`; `keeps` in openapi/schemas).

If a backend has no `fullconn`, HAProxy computes it when it starts, from the `maxconn` of the frontends that use the backend (Configuration
Manual, section 4.2). The value limits servers with `minconn`. So a new backend with such servers needs a reload, and so does a change of
`maxconn` in a frontend that uses such a backend (`backend_limited_by`).
"""

import functools
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from haproxy_native.editing.defaults_sections import DEFAULTS, all_inherited_defaults
from haproxy_native.editing.editor import standard_editor
from haproxy_native.editing.resources import resources
from haproxy_native.errors import BadValue
from haproxy_native.grammar.line_shape import LineShape
from haproxy_native.grammar.load import grammar
from haproxy_native.planning.live import NotExpressible, live_of, plain
from haproxy_native.planning.observed import SERVED, STATE, server_names
from haproxy_native.planning.outcome import SectionPlan, line_of
from haproxy_native.planning.section_order import has_conditionals, is_conditional
from haproxy_native.planning.server_plan import ServerPlanner
from haproxy_native.planning.servers import MODE, USUAL_MODE, Servers, ancestors, fixed, mode_of
from haproxy_native.runtime import commands
from haproxy_native.runtime.capabilities import Capabilities
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.section import BOUNDARY, Section
from haproxy_native.text.words import unquoted

BACKEND = "backend"
# Kinds of sections that share a namespace.
NAMED_ALIKE = (BACKEND, "frontend", "listen", DEFAULTS)
# The modes that `add backend` accepts.
MODES = ("tcp", "http")
NEWER = "use HAProxy 3.4 or later, which adds and deletes backends in the running process"
NAMED = "name the defaults section from which backends inherit"
UNNAMED = "first delete the map entries and the lines that name such backends"
# An argument of a sample or converter that is a name, perhaps followed by a slash and a server.

_ARGUMENT = r"""[(,]\s*["']?{}["']?\s*[,)/]"""
# The end of actions that set a variable to a text, such as set-var-fmt(...).
_FORMAT = "-fmt("
# Stands for every target whose name contains a variable.
_UNKNOWN = ""


class Surroundings:
    """The context of each section of a document: which names are in use, and which defaults section applies."""

    def __init__(self, document: Document) -> None:
        self.names = Counter(section.name for section in document.sections if section.kind in NAMED_ALIKE)
        self.defaults = Counter(name for name, _ in document.of_kind(DEFAULTS))
        self._sources = {id(section_): source for section_, source in zip(document.sections, all_inherited_defaults(document), strict=True)}

    def source(self, section: Section) -> str:
        """Return the name by which clients address the defaults section that a section inherits from; empty if it inherits from none."""
        return self._sources.get(id(section)) or ""


def plan_added(
    running: Document, new: Document, section: Section, servers: Servers, capabilities: Capabilities, around: Surroundings
) -> SectionPlan:
    """Return the plan for a backend of the new document that the running document does not have.

    `around`: the context of the sections in `new`.
    """
    result = SectionPlan()
    if not capabilities.adds_backends:
        return result.because(0, "the section is new, and this HAProxy cannot add backends in the running process", NEWER)
    source, above = around.source(section), list(ancestors(new, section))
    if why := _why_not_addable(running, new, section, source, around):
        return result.because(0, f"the section is new, and {why}", NAMED if "named defaults section" in why else "")
    lines = [(place, line) for place, line in enumerate(section.lines) if place and line.words]
    own = [(place, line.words) for place, line in lines if not (servers.is_server(line) or servers.is_default(line))]
    sent = [(place, words) for place, words in own if words[0] in capabilities.backend_keywords and len(words) == 2]
    if left := [each for each in own if each not in sent and not repeats_inherited(section.lines[each[0]], section, above)]:
        keywords = ", ".join(dict.fromkeys(words[0] for _, words in left))
        why = f"the section is new, and HAProxy adds a backend with {keywords} only when it loads the file"
        remedy = f"put {keywords} into a named defaults section, and name that section after `from` in such backends"
        is_inheritable = all(_is_inheritable(section.lines[place]) for place, _ in left)
        return result.because(left[0][0], why, remedy * is_inheritable)
    try:
        # The options of `add backend`: the mode, unless the backend inherits it, and the lines in `sent`.
        options = {words[0]: (place, plain(words[1])) for place, words in sent}
        inherited_mode = mode_of(above)
        place, mode = options.pop(MODE, (0, inherited_mode or USUAL_MODE))
        if mode not in MODES:
            return result.because(place, f"the section is new, and HAProxy cannot add a backend in mode {mode}")
        words = [] if mode == inherited_mode else [MODE, mode]
        for keyword, (_, word) in options.items():
            words += [keyword, word]
        add = commands.add_backend(plain(section.name), plain(source), words)
    except (BadValue, NotExpressible) as error:
        return result.because(0, f"the section is new, and no runtime command can express {error}")
    served = servers.read_section(new, section)
    if served is None:
        return result.because(0, "the section is new, and one of its server lines cannot be parsed")
    if has_computed_limit(new, section):
        result.because(0, "the section is new, and HAProxy computes its fullconn when it loads the file")
    result.send(0, [add])
    ServerPlanner(servers, capabilities, section.name, fixed((section, *above), servers.grammar), result=result).plan((), served.servers)
    result.published.append(publish := commands.publish_backend(unquoted(section.name)))
    result.places[publish.text] = 0
    return result


def _why_not_addable(running: Document, new: Document, section: Section, source: str, around: Surroundings) -> str:
    """Return why HAProxy cannot add a backend from the defaults section `source`; empty if it can. Ignores the lines of the backend."""
    if not source:
        return "HAProxy adds a backend only from a named defaults section, and there is none above it"
    loaded = running.find(DEFAULTS, source)
    if loaded is None:
        return f"defaults {source} is not loaded"
    if not loaded.name:
        return "HAProxy adds a backend only from a named defaults section, and the one above it has no name"
    if around.defaults[source] > 1:
        return f"two defaults sections have the name {source}"
    if has_conditionals(loaded) or is_conditional(new, (section, *ancestors(new, section))):
        return "it, or a line that it inherits, is in a conditional block"
    if around.names[section.name] > 1:
        return "another section has the same name"
    return ""


def repeats_inherited(line: Line, section: Section, above: Iterable[Section]) -> bool:
    """Return whether a line of a backend is equal to a line that the backend inherits, so that the command can omit the line.

    `above`: the defaults sections of the backend, the nearest first. Only directives whose last line takes precedence (`last_counts`) can
    repeat an inherited line.
    """
    shape = standard_editor().shape(resources()["backends"])
    number = shape.directive_of(line)
    if number is None or not shape.directives[number].last_counts:
        return False

    def lines_of(section: Section) -> list[Line]:
        return [line for line in section.lines[1:] if line.words and shape.directive_of(line) == number]

    if any(other.words != line.words for other in lines_of(section)):
        return False
    inherited = next((lines[-1] for each in above if (lines := lines_of(each))), None)
    return inherited is not None and inherited.words == line.words


def _is_inheritable(line: Line) -> bool:
    """Return whether a defaults section may contain the line."""
    rules = (grammar().line(resource.schema) for _, resource in resources().children("defaults"))
    prefixes = {prefix for rule in rules for prefix in rule.prefixes()}
    shape = standard_editor().shape(resources()["defaults"])
    return shape.directive_of(line) is not None or not prefixes.isdisjoint((line.args[:1], line.args[:2]))


def plan_deleted(
    running: Document, section: Section, servers: Servers, capabilities: Capabilities, find_use: Callable[[str], str]
) -> SectionPlan:
    """Return the plan for a backend of the running document that the new document does not have.

    `find_use`: returns a sentence about a line or map entry that still names a backend; empty if there is none.
    """
    result = SectionPlan()
    if not capabilities.deletes_backends:
        return result.because(0, "the section was removed, and this HAProxy cannot delete backends in the running process", NEWER)
    if is_conditional(running, (section,)):
        return result.because(0, "the section was removed, and it was in a conditional block")
    if off := fixed((section, *ancestors(running, section)), servers.grammar).everything:
        return result.because(0, f"the section was removed, and HAProxy accepts no runtime commands for it because of its setting {off}")
    served = servers.read_section(running, section)
    if served is None:
        return result.because(0, "the section was removed, and one of its server lines cannot be parsed")
    try:
        name = plain(section.name)
        live = live_of(servers.grammar.schemas, resources()["servers"].schema)
        # (name, state) of each server. The state is that of the file.
        states: list[tuple[str, str]] = []
        for server in (*served.servers, *served.templates):
            state = "maint" if server.values.get(live.roles[STATE]) == "enabled" else "ready"
            states += [(server_name, state) for server_name in server_names(server)]
        if resolved := next((server for server in (*served.servers, *served.templates) if live.is_resolved(server.values)), None):
            return result.because(
                resolved.place, "the section was removed, and HAProxy cannot delete a server whose address it resolves by DNS"
            )
        if obstacle := deletion_obstacle(section, {server for server, _ in states}):
            return result.because(obstacle[0], f"the section was removed, and {obstacle[1]}")
        if why := find_use(name):
            return result.because(0, f"the section was removed, and {why}", UNNAMED)
        result.send(0, commands.delete_backend(name, states))
    except (BadValue, NotExpressible, ValueError) as word:
        return result.because(0, f"the section was removed, and no runtime command can express {word}")
    return result


def describe_dynamic_rule(document: Document, name: str) -> str:
    """Return a sentence about the first line that may compute the name of a backend while HAProxy runs; empty if there is none.

    An example is `use_backend in frontend web, line 12, names it`. Lines that name the backend literally are ignored: HAProxy refuses a
    file in which such a backend is missing.
    """
    argument = re.compile(_ARGUMENT.format(re.escape(name)))
    for section in document.sections:
        if section.kind == BOUNDARY or name not in section.text:
            continue
        for place, line in enumerate(section.lines):
            if len(line.words) > 1 and (argument.search(line.text) or (_FORMAT in line.text and name in map(unquoted, line.words))):
                title = f"{section.kind} {section.name}".rstrip()
                return f"{line.words[0]} in {title}, line {line_of(document, section, place)}, names it"
    return ""


def deletion_obstacle(section: Section, servers: Collection[str]) -> tuple[int, str] | None:
    """Return (index, reason) of the first line that prevents HAProxy from deleting the backend or one of its servers; None if none does."""
    shape = standard_editor().shape(resources()["backends"])
    for place, line in enumerate(section.lines):
        number = shape.directive_of(line) if place else None
        if number is not None and shape.directives[number].keeps == BACKEND:
            return place, "HAProxy cannot delete a backend with such a line in the running process"
    for place, line in enumerate(section.lines[1:], 1):
        for rule, members in _rules_with_servers():
            values = (rule.read(line) or {}) if line.words else {}
            for word in (unquoted(str(values[member])) for member in members if member in values):
                backend, _, name = word.rpartition("/")
                if name in servers and backend in ("", unquoted(section.name)):
                    return place, f"HAProxy cannot delete server {name}, which this line names"
    return None


@functools.cache
def _rules_with_servers() -> list[tuple[LineShape, list[str]]]:
    """Return (shape, members) for each kind of backend line that names servers. The members contain the names (`keeps: server`)."""
    schemas, rules = grammar().schemas, []
    for _, child in resources().children("backends"):
        properties = schemas.properties(schemas.named(child.schema))
        if members := [name for name, schema in properties.items() if schemas.note(schema).get("keeps") == "server"]:
            rules.append((grammar().line(child.schema), members))
    return rules


@functools.cache
def _computed_keyword() -> tuple[str, Mapping[str, Any]]:
    """Return (keyword, note): `fullconn`, whose value HAProxy computes, and its note `computed_for` in openapi/schemas."""
    schemas = grammar().schemas
    notes = {name: schemas.note(schema) for name, schema in schemas.properties(schemas.named(SERVED[0])).items()}
    return next((name, note["computed_for"]) for name, note in notes.items() if "computed_for" in note)


def backend_limited_by(document: Document, frontend: Section) -> str:
    """Return the name of a backend whose server limits depend on the frontend's `maxconn`; empty if there is none."""
    # HAProxy counts literal names only.
    rules = [
        words for words in _lines_with_inherited(document, frontend) if words[0] in _computed_keyword()[1]["behind"] and len(words) > 1
    ]
    targets = {_UNKNOWN if "$" in words[1] else words[1] for words in rules}
    for section in document.sections:
        if section.kind in SERVED and (section is frontend or targets & {section.name, _UNKNOWN}) and has_computed_limit(document, section):
            return section.name
    return ""


def has_computed_limit(document: Document, section: Section) -> bool:
    """Return whether the limit of some server in a section depends on the `fullconn` that HAProxy computes for the section."""
    keyword, note = _computed_keyword()
    lines = list(_lines_with_inherited(document, section))
    explicit = any(words[0] == keyword and words[1:] != ("0",) for words in lines)
    return (not explicit or has_conditionals(section)) and any(note["servers_with"] in words for words in lines)


def _lines_with_inherited(document: Document, section: Section) -> Iterator[tuple[str, ...]]:
    """Yield the words, without quotes, of each line in a section and in the defaults sections that it inherits from."""
    for each in (section, *ancestors(document, section)):
        yield from (line.args for line in each.lines if line.args)
