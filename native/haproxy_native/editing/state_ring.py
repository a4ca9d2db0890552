"""Find the ring buffer to which HAProxy logs state changes of servers, or add a ring (Configuration Manual, section 3.9)."""

from haproxy_native.editing.defaults_sections import DEFAULTS, all_inherited_defaults
from haproxy_native.editing.placement import insert_section, insertion_line, with_near_indent
from haproxy_native.text import parts
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.section import Section

_TARGET = "ring@"
_INHERITED = "global"
# Proxies with servers.
_PROXIES = ("backend", "listen")
# The lines to add to a configuration without such a ring.
NAME = "state-events"
_DECLARED = f'ring {NAME}\n    description "states of servers"\n    format raw\n    maxlen 1024\n    size 1048576\n'
_GLOBAL = f"    log ring@{NAME} format raw local0 notice\n"
_PROXY = "    log global\n"


def ring(document: Document) -> str:
    """Return the name of the ring to which most proxies log. Empty if no proxy logs to a ring."""
    counts = {name: len(logging) for name, logging in _rings(document).items() if logging}
    return max(counts, key=lambda name: counts[name], default="")


def _rings(document: Document) -> dict[str, list[str]]:
    """Map each declared ring to the proxies that log to it."""
    declared: dict[str, list[str]] = {name: [] for name, _ in document.of_kind("ring")}
    everywhere = {target for _, section in document.of_kind("global") for target in _targets(section)}
    defaults = {name: _targets(section) for name, section in document.of_kind(DEFAULTS)}
    for section, name, source in zip(document.sections, document.names(), all_inherited_defaults(document), strict=True):
        if section.kind in _PROXIES:
            own = _targets(section) or defaults.get(source or "", set())
            for target in (own - {_INHERITED}) | (everywhere if _INHERITED in own else set()):
                if target in declared:
                    declared[target].append(name)
    return declared


def _targets(section: Section) -> set[str]:
    """Return the names of the rings to which a section logs. `global` in the result stands for the rings of the global section."""
    targets = {line.words[1] for line in section.lines if len(line.words) > 1 and line.words[0] == "log"}
    return {target.removeprefix(_TARGET) for target in targets if target.startswith(_TARGET) or target == _INHERITED}


def lines_to_add(document: Document) -> dict[str, str]:
    """Return the lines, by section, that make all proxies log state changes to a ring. Empty if all proxies log to one ring already."""
    if (name := ring(document)) and len(_rings(document)[name]) == sum(len(document.of_kind(kind)) for kind in _PROXIES):
        return {}
    return {f"ring {NAME}": _DECLARED, "global": _GLOBAL, "defaults": _PROXY}


def with_lines(document: Document) -> Document:
    """Return the document with the ring, with its `log` line in the global section, and with `log global` in each defaults section.

    Lines that the document has already are not added. A proxy that has no defaults section, or has `log` lines of its own, also gets
    `log global`.
    """
    last_global = max((place for place, section in enumerate(document.sections) if section.kind == _INHERITED), default=None)
    sections = list(document.sections)
    for place, (section, source) in enumerate(zip(document.sections, all_inherited_defaults(document), strict=True)):
        is_own = section.kind in _PROXIES and (source is None or any(line.words[:1] == ("log",) for line in section.lines))
        if section.kind == DEFAULTS or is_own:
            sections[place] = _with_line(with_near_indent(document, section), _PROXY)
        elif place == last_global:
            sections[place] = _with_line(with_near_indent(document, section), _GLOBAL)
    added = Document(document.preamble, sections, document.leads)
    if last_global is None:
        added = insert_section(added, Section(_INHERITED, "", f"{_INHERITED}\n{_GLOBAL}"))
    return added if added.find("ring", NAME) else insert_section(added, Section("ring", NAME, _DECLARED))


def texts_with_lines(document: Document) -> dict[str, bytes]:
    """Return the new contents, by name, of those files of the configuration that `with_lines` changes."""
    old = parts.parts(document)
    return {name: part.data for name, part in parts.parts(with_lines(document)).items() if part.data != old[name].data}


def _with_line(section: Section, text: str) -> Section:
    new_line = Line(section.indent + text.strip() + section.newline)
    if any(line.words[:2] == new_line.words[:2] for line in section.lines):
        return section
    place = insertion_line(section, [place for place, line in enumerate(section.lines) if line.words])
    return section.with_lines([*section.lines[: place + 1], new_line, *section.lines[place + 1 :]])
