"""The plan for backends that come and go: added from a defaults section that the process has loaded, deleted where nothing names them.

A backend that HAProxy would not add is recognised by its lines; whether it would delete one, HAProxy is asked.
"""

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from haproxy_native.editing.defaults_sections import DEFAULTS, all_implicit_defaults, all_inherited_defaults, named_defaults
from haproxy_native.editing.editor import Editor
from haproxy_native.editing.resources import resources
from haproxy_native.errors import BadValue
from haproxy_native.grammar.load import Grammar
from haproxy_native.grammar.section_shape import SectionShape
from haproxy_native.planning.fixed import fixed
from haproxy_native.planning.fullconn import is_limited
from haproxy_native.planning.live import NotExpressible, live_of, plain
from haproxy_native.planning.observed import STATE, names
from haproxy_native.planning.removal import removal_of
from haproxy_native.planning.repetition import repeats
from haproxy_native.planning.section_order import conditional_sections, has_conditionals
from haproxy_native.planning.server_plan import ServerPlanner
from haproxy_native.planning.servers import MODE, USUAL_MODE, SectionServers, Servers, ancestors, mode_of
from haproxy_native.runtime import backends
from haproxy_native.runtime.capabilities import Capabilities
from haproxy_native.runtime.commands import Command
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.section import Section

BACKEND = "backend"
# Kinds of sections that share their names.
NAMED_ALIKE = (BACKEND, "frontend", "listen", DEFAULTS)
# Modes that `add backend` takes.
MODES = ("tcp", "http")
NEWER = "use HAProxy 3.4 or later, which adds and deletes backends in the running process"
NAMED = "give the defaults section that backends inherit from a name"
UNNAMED = "delete the entries of maps and the lines that name such backends first"
PURGE = "tune.defaults.purge"


@dataclass
class BackendPlan:
    """`published` are the commands that come last; `places` and `reasons` name lines of the section."""

    commands: list[Command] = field(default_factory=list)
    published: list[Command] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)
    reasons: list[tuple[int, str]] = field(default_factory=list)
    remedy: str = ""

    def because(self, place: int, why: str, remedy: str = "") -> "BackendPlan":
        self.reasons.append((place, why))
        self.remedy = self.remedy or remedy
        return self


class Surroundings:
    """What surrounds the sections of a document, read in one pass: the names of proxies and of defaults sections, and conditions."""

    def __init__(self, document: Document) -> None:
        self.names = Counter(section.name for section in document.sections if section.kind in NAMED_ALIKE)
        self.defaults = Counter(name for name, _ in document.of_kind(DEFAULTS))
        self._sources = {id(section_): source for section_, source in zip(document.sections, all_inherited_defaults(document), strict=True)}
        self._guarded = conditional_sections(document)

    def is_conditional(self, section: Section) -> bool:
        """Whether it begins inside a condition that is open above it."""
        return id(section) in self._guarded

    def source(self, section: Section) -> str:
        """The name of the defaults section that it inherits from; empty where there is none."""
        return self._sources.get(id(section)) or ""


class Sources:
    """Finds the loaded defaults sections from which HAProxy adds the new backends of a document. `around` are its surroundings."""

    def __init__(self, running: Document, new: Document, around: Surroundings) -> None:
        self.running, self.new, self.around = running, new, around

    def is_purged(self, name: str) -> bool:
        """True for a defaults section that HAProxy has forgotten, since no section of the running document inherits from it."""
        return self._inherited is not None and name not in self._inherited

    @functools.cached_property
    def _inherited(self) -> frozenset[str | None] | None:
        """The defaults sections that others inherit from; None where HAProxy forgets none."""
        if not any(line.args[:1] == (PURGE,) for _, section in self.running.of_kind("global") for line in section.lines):
            return None
        return frozenset((*map(named_defaults, self.running.sections), *all_implicit_defaults(self.running)))


def added(sources: Sources, section: Section, servers: Servers, capabilities: Capabilities) -> BackendPlan:
    """A backend that is new in a document."""
    result = BackendPlan()
    if not capabilities.adds_backends:
        return result.because(0, "the section is new, and this HAProxy adds no backend in the running process", NEWER)
    source, above = sources.around.source(section), list(ancestors(sources.new, section))
    if why := _unusable(sources, section, source):
        return result.because(0, f"the section is new, and {why}", NAMED if "named defaults section" in why else "")
    others = _others(section, servers)
    taken = [(place, words) for place, words in others if words[0] in capabilities.backend_keywords and len(words) == 2]
    shape = Editor(servers.grammar).shape(resources()["backends"])
    if left := [place_ for place_ in others if place_ not in taken and not repeats(section.lines[place_[0]], section, above, shape)]:
        names = ", ".join(dict.fromkeys(words[0] for _, words in left))
        why = f"the section is new, and HAProxy adds a backend with {names} only when it loads the file"
        remedy = f"put {names} into a named defaults section, and name it behind `from` in such backends"
        is_inheritable = all(_is_inheritable(section.lines[place], servers.grammar) for place, _ in left)
        return result.because(left[0][0], why, remedy * is_inheritable)
    try:
        add = backends.add(plain(section.name), plain(source), list(_words(above, taken)))
    except (BadValue, NotExpressible) as word:
        return result.because(0, f"the section is new, and no runtime command can say {word}")
    except _OtherMode as mode:
        return result.because(mode.place, f"the section is new, and HAProxy adds no backend in mode {mode}")
    planner = ServerPlanner(servers, capabilities, section.name, fixed((section, *above), servers.grammar))
    return _with_servers(result, add, sources.new, section, planner)


def _others(section: Section, servers: Servers) -> list[tuple[int, tuple[str, ...]]]:
    """Its lines besides the header, the servers and what these inherit."""
    lines = [(place, line) for place, line in enumerate(section.lines) if place and line.words]
    return [(place, line.words) for place, line in lines if not (servers.is_server(line) or servers.is_default(line))]


def _is_inheritable(line: Line, language: Grammar) -> bool:
    """True if a defaults section may hold the line."""
    shape, prefixes = _defaults(language)
    return shape.directive_of(line) is not None or not prefixes.isdisjoint((line.args[:1], line.args[:2]))


@functools.cache
def _defaults(language: Grammar) -> tuple[SectionShape, frozenset[tuple[str, ...]]]:
    """Return the shape of a defaults section, and the first words of the rules that it may hold."""
    rules = [language.line(resource.schema) for _, resource in resources().children("defaults")]
    return Editor(language).shape(resources()["defaults"]), frozenset(prefix for rule in rules for prefix in rule.prefixes())


class _OtherMode(Exception):
    def __init__(self, mode: str, place: int) -> None:
        super().__init__(mode)
        self.place = place


def _with_servers(result: BackendPlan, add: Command, new: Document, section: Section, planner: ServerPlanner) -> BackendPlan:
    served = planner.servers.of(new, section)
    if served is None:
        return result.because(0, "the section is new, and a server line here cannot be read")
    planner.plan((), served.servers)
    if is_limited(new, section):
        result.because(0, "the section is new, and HAProxy computes its fullconn when it loads the file")
    result.reasons += planner.reasons
    result.commands += [add, *planner.commands]
    result.published.append(backends.publish(planner.backend))
    result.places = {command.text: 0 for command in (add, *result.published)} | planner.places
    return result


def _unusable(sources: Sources, section: Section, source: str) -> str:
    """Why the section cannot be added from its defaults section, whatever its own lines say."""
    new, around = sources.new, sources.around
    if not source:
        return "HAProxy adds a backend only from a named defaults section, and there is none above it"
    loaded = sources.running.find(DEFAULTS, source)
    if loaded is None:
        return f"defaults {source} is not loaded"
    if not loaded.name:
        return "HAProxy adds a backend only from a named defaults section, and the one above it has no name"
    if around.defaults[source] > 1:
        return f"two defaults sections have the name {source}"
    if any(map(has_conditionals, (section, loaded, *ancestors(new, section)))) or around.is_conditional(section):
        return "it, or what it inherits, stands under a condition"
    if around.names[section.name] > 1:
        return "another section has its name"
    if sources.is_purged(source):
        return f"{PURGE} lets HAProxy forget defaults {source}, which no section of the file inherits from"
    return ""


def _words(above: Sequence[Section], taken: Sequence[tuple[int, tuple[str, ...]]]) -> Iterator[str]:
    """What `add backend` says behind the defaults section: a mode that is not inherited, as in a file the usual one."""
    values = {words[0]: (place, plain(words[1])) for place, words in taken}
    inherited = mode_of(above)
    place, mode = values.pop(MODE, (0, inherited or USUAL_MODE))
    if mode not in MODES:
        raise _OtherMode(mode, place)
    if mode != inherited:
        yield from (MODE, mode)
    for keyword, (_, word) in values.items():
        yield from (keyword, word)


def deleted(
    running: Document, section: Section, servers: Servers, capabilities: Capabilities, around: Surroundings, named: Callable[[str], str]
) -> BackendPlan:
    """A backend of the running document, of which `around` are the surroundings, that is gone; `named` says what else names it."""
    result = BackendPlan()
    if not capabilities.deletes_backends:
        return result.because(0, "the section is gone, and this HAProxy deletes no backend in the running process", NEWER)
    if has_conditionals(section) or around.is_conditional(section):
        return result.because(0, "the section is gone, and it stood under a condition")
    if off := fixed((section, *ancestors(running, section)), servers.grammar).everything:
        return result.because(0, f"the section is gone, and HAProxy takes no command for it, for it is {off}")
    served = servers.of(running, section)
    if served is None:
        return result.because(0, "the section is gone, and a server line of it cannot be read")
    try:
        name = plain(section.name)
        states = list(_states(servers, served))
        live = live_of(servers.grammar.schemas, resources()["servers"].schema)
        if resolved := next((server for server in (*served.servers, *served.templates) if live.is_resolved(server.values)), None):
            return result.because(resolved.place, "the section is gone, and HAProxy deletes no server whose name it resolves")
        if obstacle := removal_of(servers.grammar).obstacle(section, {server for server, _ in states}):
            return result.because(obstacle[0], f"the section is gone, and {obstacle[1]}")
        if why := named(name):
            return result.because(0, f"the section is gone, and {why}", UNNAMED)
        result.commands = backends.delete(name, states)
        result.places = {command.text: 0 for command in result.commands}
    except (BadValue, NotExpressible, ValueError) as word:
        return result.because(0, f"the section is gone, and no runtime command can say {word}")
    return result


def _states(servers: Servers, served: SectionServers) -> Iterator[tuple[str, str]]:
    """The name of each server, and the state that the file gives it."""
    member = live_of(servers.grammar.schemas, resources()["servers"].schema).roles[STATE]
    for server in (*served.servers, *served.templates):
        state = "maint" if server.values.get(member) == "enabled" else "ready"
        for name in names(server):
            yield name, state
