"""Plan how the running process gets from one document to another: by Runtime API commands, or by a reload, with the reasons.

This is the only place that decides between the two. The planner compares sections by the words of their lines, and ignores comments, blank
lines and indents. Each kind of difference has its own planner:

    backends that are new or removed     backend_plan.py
    servers of a backend                 server_plan.py
    members of the section itself        live.py, if the declaration has a command for them
    anything else                        a reload

A plan applies as a whole: if it has any reason for a reload, no command is sent.

While one change waits for a reload, later changes can still be applied at runtime if they change other sections: see `with_ready_change`.
"""

from collections.abc import Callable, Sequence
from itertools import zip_longest

from haproxy_native.editing.editor import standard_editor
from haproxy_native.editing.resources import resources
from haproxy_native.errors import BadValue
from haproxy_native.grammar.line_shape import opaque_words
from haproxy_native.grammar.load import grammar
from haproxy_native.planning import backend_plan
from haproxy_native.planning.backend_plan import Surroundings, backend_limited_by, describe_dynamic_rule
from haproxy_native.planning.live import NotExpressible, live_of, plain
from haproxy_native.planning.observed import SERVED, Claimed, Observed, ServerDifference, server_differences
from haproxy_native.planning.outcome import Plan, Reason, SectionPlan, reason_at
from haproxy_native.planning.section_order import (
    Key,
    is_conditional,
    key_of,
    keys_of,
    pairs,
    sections_of,
)
from haproxy_native.planning.server_plan import ServerPlanner
from haproxy_native.planning.servers import Servers, ancestors, fixed
from haproxy_native.runtime.capabilities import Capabilities
from haproxy_native.runtime.commands import Command
from haproxy_native.text.document import MARK_END, Document
from haproxy_native.text.line import Line
from haproxy_native.text.pieces import apart
from haproxy_native.text.section import BOUNDARY, Section
from haproxy_native.text.words import unquoted

BY_MAP = "choose the backend by a map in one rule of the frontend: its entries change without a reload"


# Returns which entry of a stored map names the backend, as a sentence, given the document and the backend; empty if none does.
Stored = Callable[[Document, str], str]


def plan(
    running: Document,
    new: Document,
    capabilities: Capabilities,
    *,
    preceded: bool = False,
    stored: Stored = lambda document, backend: "",
    observed: Observed | None = None,
) -> Plan:
    """Plan how the process gets from the running document to a new one.

    `preceded`: HAProxy loads other files first, whose defaults sections may apply. `stored`: finds the map entry that names a backend.
    `observed`: the state, in the worker, of the backends that `observable` returns. If it is passed, a command that HAProxy would refuse
    becomes a reason for a reload, and claimed servers are planned from their actual state.
    """
    return _Planner(running, new, capabilities, preceded, stored, observed).plan()


def meaning(section: Section) -> tuple[tuple[str, ...], ...]:
    """Return the words of each line of a section, without blank lines. To HAProxy, sections with equal words are equal."""
    words: tuple[tuple[str, ...], ...] | None = section.cache.get(meaning)
    if words is None:
        words = section.cache[meaning] = tuple(line.words for line in section.lines if line.words)
    return words


class _Planner:
    def __init__(
        self,
        running: Document,
        new: Document,
        capabilities: Capabilities,
        preceded: bool,
        stored: Stored,
        observed: Observed | None,
    ) -> None:
        self.stored, self.observed = stored, observed
        self.running, self.new, self.capabilities, self.preceded = running, new, capabilities, preceded
        self.servers = Servers(grammar())
        self._switching = grammar().line(resources()["backend_switching_rules"].schema).prefixes()
        self.result = Plan()

    def plan(self) -> Plan:
        self.result.corrected = self._differences_to_correct()
        if directives_outside_sections(self.running) != directives_outside_sections(self.new):
            self.result.reasons.append(Reason("text before the first section changed", line=1))
        before, after = sections_of(self.running), sections_of(self.new)
        removed, added = only_in_first(before, after), only_in_first(after, before)
        unpaired = set(map(id, (*removed, *added)))
        corresponding = pairs(*([section for section in sections if id(section) not in unpaired] for sections in (before, after)))
        if corresponding is None:
            self._add_reasons_of_sections(keys_of(self.running), keys_of(self.new))
            return self.result
        claimed = {each.backend for each in self.result.corrected}
        for old, new in corresponding:
            if differ_in_words(old, new):
                self._plan_section(old, new)
            elif claimed and new.kind in SERVED and unquoted(new.name) in claimed:
                self._plan_servers(old, new)
        if added or removed:
            self._plan_backends(added, removed)
        return self.result

    def _plan_backends(self, added: Sequence[Section], removed: Sequence[Section]) -> None:
        def find_use(name: str) -> str:
            return describe_dynamic_rule(self.new, name) or self.stored(self.new, name)

        # Publish new backends last: until then, all other commands can be undone.
        published = []
        around = Surroundings(self.new)
        for section in added:
            section_plan = backend_plan.plan_added(self.running, self.new, section, self.servers, self.capabilities, around)
            self._add(section, section_plan)
            published += section_plan.published
        for section in removed:
            self._add(section, backend_plan.plan_deleted(self.running, section, self.servers, self.capabilities, find_use))
        self.result.commands += published

    def _add(self, section: Section, part: SectionPlan) -> None:
        self.result.commands += part.commands
        self.result.places.update({text: (section, place) for text, place in part.places.items()})
        for place, why in part.reasons:
            self._reason(section, place, why, part.remedy)

    def _add_reasons_of_sections(self, old: list[Key], new: list[Key]) -> None:
        """Add a reason for each section that is new or was removed. If there is none, the order of the sections has changed."""
        before, after = set(old), set(new)
        for section in sections_of(self.new):
            if (section.kind, section.name) not in before:
                self._reason(section, 0, "the section is new")
        removed = [key for key in old if key not in after]
        self.result.reasons += [Reason("the section was removed", f"{kind} {name}".rstrip(), 0, kind) for kind, name in removed]
        if not self.result.reasons:
            moved = (section for section, key in zip(sections_of(self.new), old, strict=False) if key_of(section) != key)
            self._reason(next(moved, sections_of(self.new)[-1]), 0, "the order of the sections changed")

    def _reason(self, section: Section, place: int, why: str, remedy: str = "") -> None:
        if not remedy and section.lines[place].args[:1] in self._switching:
            remedy = BY_MAP
        self.result.reasons.append(reason_at(self.new, section, place, why, remedy))

    def _plan_section(self, old: Section, new: Section) -> None:
        if (new_commands := self._commands_for_members(old, new)) is not None:
            if new_commands and (backend := backend_limited_by(self.new, new)):
                return self._reason(
                    new, first_difference(old, new), f"HAProxy computes the fullconn of {backend} from this line when it starts"
                )
            self.result.commands += new_commands
            return
        removed, added = old.apart_from(new)
        if new.kind not in SERVED or self._other_words(old.lines[removed]) != self._other_words(new.lines[added]):
            return self._add_reload_reason(old, new)
        self._plan_servers(old, new)

    def _add_reload_reason(self, old: Section, new: Section) -> None:
        """Add a reason that names the first new line that no command applies or, if there is none, the first removed line."""
        why = "HAProxy applies this only by a reload"
        before, after = ({line.words for line in section.lines if line.words} for section in (old, new))
        removed = [line for line in old.lines if line.words and line.words not in after]
        for place, line in enumerate(new.lines):
            if line.words and line.words not in before and not self._is_of_servers(line):
                former = next((each for each in removed if each.words[:1] == line.words[:1]), None)
                if self._commands_for_line(new, former, line) is None:
                    return self._reason(new, place, why)
        replaced = {words[:1] for words in after - before}
        if gone := next((line for line in removed if line.args and line.words[:1] not in replaced and not self._is_of_servers(line)), None):
            title = f"{new.kind} {new.name}".rstrip()
            remedy = BY_MAP if gone.args[:1] in self._switching else ""
            return self.result.reasons.append(Reason(f"the line was removed, and {why}", title, 0, gone.args[0], new.file or "", remedy))
        return self._reason(new, first_difference(old, new), why)

    def _is_of_servers(self, line: Line) -> bool:
        return self.servers.is_server(line) or self.servers.is_default(line)

    def _differences_to_correct(self) -> list[ServerDifference]:
        """Return the members of claimed servers whose value in the worker differs from both the running and the new document."""
        if not (observed := self.observed) or not observed.claimed:
            return []
        seen = observed.rows, observed.limits, observed.claimed
        after = [each for each in server_differences(self.new, self.servers, *seen) if observed.is_corrected(each)]
        before = list(server_differences(self.running, self.servers, *seen)) if after else []
        return [each for each in after if each in before]

    def _plan_servers(self, old: Section, new: Section) -> None:
        """Plan the servers of a section in which nothing else changes."""
        if why := self._why_unknown(self.running, old) or self._why_unknown(self.new, new):
            return self._reason(new, first_difference(old, new), why)
        before, after = self.servers.read_section(self.running, old), self.servers.read_section(self.new, new)
        if before is None or after is None:
            return self._reason(new, first_difference(old, new), "one of its server lines cannot be parsed")
        planner = ServerPlanner(
            self.servers,
            self.capabilities,
            new.name,
            fixed((new, *ancestors(self.new, new)), grammar()),
            self.observed,
        )
        planner.plan(before.servers, after.servers)
        planner.plan_templates(before.templates, after.templates)
        self._add(new, planner.result)

    def _why_unknown(self, document: Document, section: Section) -> str:
        """Return why the planner cannot determine what the servers of a section inherit; empty if it can."""
        above = list(ancestors(document, section))
        if is_conditional(document, (section, *above)):
            return "a server, or a line that it inherits, is in a conditional block"
        if keyword := next((line.args[0] for each in (section, *above) for line in each.lines if line.args and "$" in line.args[0]), ""):
            return f"only HAProxy can resolve the keyword {keyword}"
        return "" if above or not self.preceded else "the servers may inherit from another file"

    def _other_words(self, lines: Sequence[Line]) -> list[tuple[str, ...]]:
        """Return the words of lines other than servers and their defaults."""
        return [line.words for line in lines if line.words and not self._is_of_servers(line)]

    def _commands_for_members(self, old: Section, new: Section) -> list[Command] | None:
        """Return the commands for changed members of a section, such as `maxconn` of a frontend; None if anything else differs."""
        if old.snippets or new.snippets:
            return None
        new_commands: list[Command] = []
        for former, line in changed_lines(old, new):
            if former and line and former.words == line.words:
                continue
            commands = self._commands_for_line(new, former, line) if line else None
            if commands is None:
                return None
            new_commands += commands
        return None if new_commands and is_conditional(self.new, (new,)) else new_commands

    @staticmethod
    def _commands_for_line(section: Section, former: Line | None, line: Line) -> list[Command] | None:
        """Return the commands that apply a changed or new line; None if none can, empty if only the notation differs."""
        if (resource := resources().by_section.get(section.kind)) is None:
            return None
        live, shape = live_of(grammar().schemas, resource.schema), standard_editor().shape(resource)
        number = shape.directive_of(line)
        if number is None or (former and number != shape.directive_of(former)):
            return None
        directive = shape.directives[number].shape
        before, after = directive.parse_words(former.words) if former else None, directive.parse_words(line.words)
        if (
            after is None
            or (former and before is None)
            or opaque_words(line, after) != (opaque_words(former, before) if former and before else ())
        ):
            return None
        old = before.values if before else {}
        changed = [member for member in {**old, **after.values} if old.get(member) != after.values.get(member)]
        if not changed:
            return [] if former else None
        if len(shape.reading(section).lines[number]) > 1:
            return None
        try:
            new_commands, left = live.commands("", plain(section.name), old, after.values, changed)
        except (NotExpressible, BadValue):
            return None
        return None if left else new_commands


def differ_in_words(old: Section, new: Section) -> bool:
    """Return whether the words of two sections differ."""
    return old is not new and old.text != new.text and meaning(old) != meaning(new)


def observable(running: Document, new: Document, claimed: Claimed) -> set[str]:
    """Return the backends whose state in the worker a plan needs: those with claimed servers, and those whose lines differ."""
    before, after = running.apart_from(new)
    old = {key_of(section): section for section in running.sections[before] if section.kind in SERVED}
    changed = [section for section in new.sections[after] if key_of(section) in old and differ_in_words(old[key_of(section)], section)]
    return {unquoted(section.name) for section in changed} | {claim.backend for claim in claimed}


def only_in_first(sections: Sequence[Section], others: Sequence[Section]) -> list[Section]:
    """Return the backends in `sections` that are not in `others`."""
    if len(sections) == len(others) and all(
        one is other or key_of(one) == key_of(other) for one, other in zip(sections, others, strict=True)
    ):
        return []
    known = set(map(key_of, others))
    return [section for section in sections if section.kind == backend_plan.BACKEND and key_of(section) not in known]


def changed_lines(old: Section, new: Section) -> list[tuple[Line | None, Line | None]]:
    """Return (old line, new line) for all lines from the first to the last difference. After the end of a section, its line is None."""
    before, after = ([line for line in section.lines if line.words] for section in (old, new))
    mine, theirs = apart([line.words for line in before], [line.words for line in after])
    return list(zip_longest(before[mine], after[theirs]))


def first_difference(old: Section, new: Section) -> int:
    """Return the index in the new section of the first line whose words differ."""
    places = [place for place, line in enumerate(new.lines) if line.words]
    for place, old_words, new_words in zip_longest(places, meaning(old), meaning(new)):
        if old_words != new_words:
            return place if place is not None else len(new.lines) - 1
    return 0


def directives_outside_sections(document: Document) -> list[str]:
    """Return the directives above the first section of each file."""
    above = [document.preamble, *(section.text.rpartition(MARK_END)[2] for section in document.sections if section.kind == BOUNDARY)]
    lines = [line.strip() for text in above for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def with_ready_change(running: Document, before: Document, new: Document) -> Document | None:
    """Return the running document after the change from `before` to `new`; None if a section that the change affects waits for a reload.

    `before` is the current configuration. It differs from the running document by the changes that wait for a reload.
    """
    old, latest = sections_of(before), sections_of(new)
    removed, added = only_in_first(old, latest), only_in_first(latest, old)
    old_common, new_common = _without(old, removed), _without(latest, added)
    if list(map(key_of, old_common)) != list(map(key_of, new_common)):
        return None
    if directives_outside_sections(before) != directives_outside_sections(new):
        return None
    # (section of `before`, sections that replace it)
    changes = [(one, [other]) for one, other in zip(old_common, new_common, strict=True) if one is not other and one.text != other.text]
    replaced: dict[int, list[Section]] = {}
    for section, replacements in [*changes, *((section, []) for section in removed)]:
        running_section = running.find(section.kind, before.address(section))
        waits = running_section is None or meaning(running_section) != meaning(section)
        if waits and replacements and meaning(section) == meaning(replacements[0]):
            # Only the layout differs, such as a blank line at its end.
            continue
        if running_section is None or waits or id(running_section) in replaced:
            return None
        replaced[id(running_section)] = replacements
    if replaced:
        sections = [each for section in running.sections for each in replaced.get(id(section), [section])]
        running = Document(running.preamble, sections, running.leads)
    return _insert_backends(running, new, added) if added else running


def _insert_backends(running: Document, new: Document, added: Sequence[Section]) -> Document | None:
    """Return `running` with each added backend below the section that precedes the backend in `new`.

    Return None if a backend would inherit other lines there.
    """
    ids = set(map(id, added))
    behind: dict[int, list[Section]] = {}
    last = None
    for section in sections_of(new):
        running_section = running.find(section.kind, new.address(section))
        if id(section) not in ids:
            last = running_section or last
        elif running_section or last is None or last.file != section.file:
            return None
        else:
            behind.setdefault(id(last), []).append(section)
    sections: list[Section] = []
    for section in running.sections:
        if followers := behind.get(id(section)):
            # Each section must end in a line feed.
            for each in (section, *followers):
                sections.append(each if each.text.endswith("\n") else each.with_text(each.text + each.newline))
        else:
            sections.append(section)
    result = Document(running.preamble, sections, running.leads)
    for section in added:
        placed_section = result.find(section.kind, section.name)
        assert placed_section
        if is_conditional(result, (placed_section,)) or is_conditional(new, (section,)):
            return None
        if list(map(meaning, ancestors(result, placed_section))) != list(map(meaning, ancestors(new, section))):
            return None
    return result


def _without(sections: Sequence[Section], others: Sequence[Section]) -> list[Section]:
    left_out = set(map(id, others))
    return [section for section in sections if id(section) not in left_out]
