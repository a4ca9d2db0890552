"""Plans the way of the running process from one document to another: by commands, or by a reload and why. Pure; the only such decision.

What differs is found by meaning: comments, blank lines, indents and units do not count.
"""

import functools
from collections.abc import Callable, Sequence
from itertools import zip_longest

from haproxy_native.editing.editor import Editor
from haproxy_native.editing.resources import resources
from haproxy_native.errors import BadValue
from haproxy_native.grammar.line_shape import opaque_words
from haproxy_native.grammar.load import Grammar, grammar
from haproxy_native.grammar.section_shape import SectionShape
from haproxy_native.planning import backend_plan
from haproxy_native.planning.backend_names import naming
from haproxy_native.planning.backend_plan import BackendPlan, Sources, Surroundings
from haproxy_native.planning.fixed import fixed
from haproxy_native.planning.fullconn import limited_by
from haproxy_native.planning.live import Live, NotExpressible, live_of, plain
from haproxy_native.planning.observed import SERVED, Claimed, Observed, Unlike, unlike
from haproxy_native.planning.outcome import Plan, Reason, reason_at
from haproxy_native.planning.section_order import (
    Key,
    conditional_sections,
    is_conditional,
    key_of,
    keys_of,
    pairs,
    sections_of,
)
from haproxy_native.planning.server_plan import ServerPlanner
from haproxy_native.planning.servers import Servers, ancestors
from haproxy_native.runtime.capabilities import Capabilities
from haproxy_native.runtime.commands import Command
from haproxy_native.text.document import MARK_END, Document
from haproxy_native.text.line import Line
from haproxy_native.text.section import BOUNDARY, Section
from haproxy_native.text.words import unquoted

__all__ = ["Plan", "Reason", "plan"]
BY_MAP = "choose the backend by a map in one rule of the frontend: its entries change without a reload"


# What outside the document names a backend, in words; empty where nothing does.
Stored = Callable[[Document, str], str]


def plan(
    running: Document,
    new: Document,
    capabilities: Capabilities,
    language: Grammar | None = None,
    *,
    preceded: bool = False,
    stored: Stored = lambda document, backend: "",
    observed: Observed | None = None,
) -> Plan:
    """The plan from what the worker in service runs to a new document; `preceded` by other files, whose defaults may apply in it.

    `stored` looks into the stored maps that the new document refers to. `observed`: what the worker shows of the servers of `observable`,
    so that what HAProxy would refuse is known beforehand, and what is claimed is planned from what the worker has.
    """
    return _Planner(running, new, capabilities, language or grammar(), preceded, stored, observed).plan()


def meaning(section: Section) -> tuple[tuple[str, ...], ...]:
    """The words of all lines that say something, the header's first."""
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
        language: Grammar,
        preceded: bool,
        stored: Stored,
        observed: Observed | None,
    ) -> None:
        self.stored, self.observed = stored, observed
        self.running, self.new, self.capabilities, self.grammar, self.preceded = running, new, capabilities, language, preceded
        self.servers, self.editor = Servers(language), Editor(language)
        self._switching = language.line(resources()["backend_switching_rules"].schema).prefixes()
        self.result = Plan()

    def plan(self) -> Plan:
        self.result.corrected = self._to_correct()
        if loose_directives(self.running) != loose_directives(self.new):
            self.result.reasons.append(Reason("", 1, "", "text before the first section changed"))
        before, after = sections_of(self.running), sections_of(self.new)
        going, coming = only_in(before, after), only_in(after, before)
        moving = set(map(id, (*going, *coming)))
        corresponding = pairs(*([section for section in sections if id(section) not in moving] for sections in (before, after)))
        if corresponding is None:
            self._moved_sections(keys_of(self.running), keys_of(self.new))
            return self.result
        claimed = {each.backend for each in self.result.corrected}
        for old, new in corresponding:
            if differ(old, new):
                self._section(old, new)
            elif claimed and new.kind in SERVED and unquoted(new.name) in claimed:
                self._servers(old, new)
        self._backends(coming, going)
        return self.result

    def _backends(self, coming: Sequence[Section], going: Sequence[Section]) -> None:
        """New ones are published when all others are gone: until then everything can be taken back."""
        published = []
        if not (coming or going):
            return
        around, before = Surroundings(self.new), Surroundings(self.running)
        sources = Sources(self.running, self.new, around)
        for section in coming:
            section_plan = backend_plan.added(sources, section, self.servers, self.capabilities)
            self._take(section, section_plan)
            published += section_plan.published
        for section in going:
            section_plan = backend_plan.deleted(self.running, section, self.servers, self.capabilities, before, self._naming)
            self._take(section, section_plan)
        self.result.commands += published

    def _naming(self, name: str) -> str:
        return naming(self.new, name) or self.stored(self.new, name)

    def _take(self, section: Section, said: BackendPlan) -> None:
        self.result.commands += said.commands
        self.result.places.update({text: (section, place) for text, place in said.places.items()})
        for place, why in said.reasons:
            self._reason(section, place, why, said.remedy)

    def _moved_sections(self, old: list[Key], new: list[Key]) -> None:
        before, after = set(old), set(new)
        for section in sections_of(self.new):
            if (section.kind, section.name) not in before:
                self._reason(section, 0, "the section is new")
        gone = [key for key in old if key not in after]
        self.result.reasons += [Reason(f"{kind} {name}".rstrip(), 0, kind, "the section is gone") for kind, name in gone]
        if not self.result.reasons:
            moved = (section for section, key in zip(sections_of(self.new), old, strict=False) if key_of(section) != key)
            self._reason(next(moved, sections_of(self.new)[-1]), 0, "sections stand in another order")

    def _reason(self, section: Section, place: int, why: str, remedy: str = "") -> None:
        if not remedy and section.lines[place].args[:1] in self._switching:
            remedy = BY_MAP
        self.result.reasons.append(reason_at(self.new, section, place, why, remedy))

    def _section(self, old: Section, new: Section) -> None:
        if (new_commands := self._own_members(old, new)) is not None:
            if new_commands and (backend := limited_by(self.new, new)):
                return self._reason(new, first_difference(old, new), f"HAProxy computes the fullconn of {backend} from it when it starts")
            self.result.commands += new_commands
            return
        gone, come = old.apart_from(new)
        if new.kind not in SERVED or self._others(old.lines[gone]) != self._others(new.lines[come]):
            return self._reason(new, first_difference(old, new), "HAProxy takes this only by a reload")
        self._servers(old, new)

    def _to_correct(self) -> list[Unlike]:
        """Return what the worker has otherwise of claimed servers than both documents say."""
        if not (observed := self.observed) or not observed.claimed:
            return []
        seen = observed.rows, observed.limits, observed.claimed
        after = [each for each in unlike(self.new, self.servers, *seen) if observed.corrects(each)]
        before = list(unlike(self.running, self.servers, *seen)) if after else []
        return [each for each in after if each in before]

    def _servers(self, old: Section, new: Section) -> None:
        """The servers of two sections that say the same besides, or of one that does not change, where its servers are claimed."""
        if why := self._unsure(self.running, old) or self._unsure(self.new, new):
            return self._reason(new, first_difference(old, new), why)
        before, after = self.servers.of(self.running, old), self.servers.of(self.new, new)
        if before is None or after is None:
            return self._reason(new, first_difference(old, new), "a server line here cannot be read")
        planner = ServerPlanner(
            self.servers,
            self.capabilities,
            new.name,
            fixed((new, *ancestors(self.new, new)), self.grammar),
            self.observed.of(unquoted(new.name)) if self.observed else None,
        )
        planner.plan(before.servers, after.servers)
        planner.compare_templates(before.templates, after.templates)
        self.result.commands += planner.commands
        self.result.places.update({text: (new, place) for text, place in planner.places.items()})
        for place, why in planner.reasons:
            self._reason(new, place, why)

    @functools.cached_property
    def _conditional(self) -> frozenset[int]:
        return conditional_sections(self.running) | conditional_sections(self.new)

    def _unsure(self, document: Document, section: Section) -> str:
        """Why it cannot be decided here what its servers inherit; empty where it can."""
        above = list(ancestors(document, section))
        if is_conditional((section, *above), self._conditional):
            return "a server or what it inherits stands under a condition"
        if keyword := next((line.args[0] for each in (section, *above) for line in each.lines if line.args and "$" in line.args[0]), ""):
            return f"only HAProxy can resolve the keyword {keyword}"
        return "" if above or not self.preceded else "the servers may inherit from another file"

    def _others(self, lines: Sequence[Line]) -> list[tuple[str, ...]]:
        """What lines of a section say besides its servers."""
        return [line.words for line in lines if line.words and not self.servers.is_server(line) and not self.servers.is_default(line)]

    def _own_members(self, old: Section, new: Section) -> list[Command] | None:
        """The commands, where the section differs only in members of its own that change live (`maxconn` of a frontend)."""
        resource = resources().by_section.get(new.kind)
        if resource is None or old.snippets or new.snippets:
            return None
        live = live_of(self.grammar.schemas, resource.schema)
        shape = self.editor.shape(resource)
        new_commands: list[Command] = []
        for was, line in changed_lines(old, new):
            if was and line and was.words == line.words:
                continue
            commands = self._own_line(live, shape, was, line, new) if line else None
            if commands is None:
                return None
            new_commands += commands
        return None if new_commands and is_conditional((new,), self._conditional) else new_commands

    @staticmethod
    def _own_line(live: Live, shape: SectionShape, was: Line | None, line: Line, section: Section) -> list[Command] | None:
        """What one line's change takes, or a line that is new: nothing where it says the same otherwise; None where there is no command."""
        number = shape.directive_of(line)
        if number is None or (was and number != shape.directive_of(was)):
            return None
        directive = shape.directives[number].shape
        before, after = directive.take(was.words) if was else None, directive.take(line.words)
        if after is None or (was and before is None) or opaque_words(line, after) != (opaque_words(was, before) if was and before else ()):
            return None
        old = before.values if before else {}
        changed = [member for member in {**old, **after.values} if old.get(member) != after.values.get(member)]
        if not changed:
            return [] if was else None
        if len(shape.reading(section).lines[number]) > 1:
            return None
        try:
            new_commands, left = live.commands("", plain(section.name), old, after.values, changed)
        except (NotExpressible, BadValue):
            return None
        return None if left else new_commands


def differ(old: Section, new: Section) -> bool:
    """Whether two sections say something else."""
    return old is not new and old.text != new.text and meaning(old) != meaning(new)


def observable(running: Document, new: Document, claimed: Claimed) -> set[str]:
    """Return the backends of which a plan asks what the worker shows: those in both documents whose lines differ, and claimed ones."""
    before, after = running.apart_from(new)
    old = {key_of(section): section for section in running.sections[before] if section.kind in SERVED}
    changed = [section for section in new.sections[after] if key_of(section) in old and differ(old[key_of(section)], section)]
    return {unquoted(section.name) for section in changed} | {claim.backend for claim in claimed}


def only_in(sections: Sequence[Section], others: Sequence[Section]) -> list[Section]:
    """Backends whose names the others do not have."""
    if len(sections) == len(others) and all(
        one is other or key_of(one) == key_of(other) for one, other in zip(sections, others, strict=True)
    ):
        return []
    known = set(map(key_of, others))
    return [section for section in sections if section.kind == backend_plan.BACKEND and key_of(section) not in known]


def changed_lines(old: Section, new: Section) -> list[tuple[Line | None, Line | None]]:
    """What stands between the lines that both begin and end with, side by side; None where one of them has no more."""
    before, after = ([line for line in section.lines if line.words] for section in (old, new))
    start = _alike(before, after)
    before, after = before[start:], after[start:]
    end = _alike(before[::-1], after[::-1])
    return list(zip_longest(before[: len(before) - end], after[: len(after) - end]))


def _alike(before: list[Line], after: list[Line]) -> int:
    """How many lines both begin with."""
    return next(
        (place for place, (was, line) in enumerate(zip(before, after, strict=False)) if was.words != line.words),
        min(len(before), len(after)),
    )


def first_difference(old: Section, new: Section) -> int:
    """The place in the new section of the first line that says something else."""
    places = [place for place, line in enumerate(new.lines) if line.words]
    for place, was, words in zip_longest(places, meaning(old), meaning(new)):
        if was != words:
            return place if place is not None else len(new.lines) - 1
    return 0


def loose_directives(document: Document) -> list[str]:
    """The directives before the first section of any file."""
    above = [document.preamble, *(section.text.rpartition(MARK_END)[2] for section in document.sections if section.kind == BOUNDARY)]
    lines = [line.strip() for text in above for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]
