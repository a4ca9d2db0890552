"""A change that HAProxy can take now although an earlier one waits for a reload. Pure."""

from collections.abc import Sequence

from haproxy_native.planning.backend_plan import Surroundings
from haproxy_native.planning.plan import loose_directives, meaning, only_in
from haproxy_native.planning.section_order import key_of, sections_of
from haproxy_native.planning.servers import ancestors
from haproxy_native.text.document import Document
from haproxy_native.text.section import Section


def ahead(running: Document, before: Document, new: Document) -> Document | None:
    """The running document with only what distinguishes `new` from `before`; None where that touches what waits."""
    old, latest = sections_of(before), sections_of(new)
    going, coming = only_in(old, latest), only_in(latest, old)
    remaining, became = _without(old, going), _without(latest, coming)
    if list(map(key_of, remaining)) != list(map(key_of, became)) or loose_directives(before) != loose_directives(new):
        return None
    changes = [(was, [now]) for was, now in zip(remaining, became, strict=True) if was is not now and was.text != now.text]
    replaced: dict[int, list[Section]] = {}
    for was, instead in [*changes, *((section, []) for section in going)]:
        there = running.find(was.kind, before.address(was))
        waits = there is None or meaning(there) != meaning(was)
        if waits and instead and meaning(was) == meaning(instead[0]):
            # Another layout, as of the blank line before a section that comes behind it, asks nothing of the process.
            continue
        if there is None or waits or id(there) in replaced:
            return None
        replaced[id(there)] = instead
    if replaced:
        left = (replacement for there in running.sections for replacement in replaced.get(id(there), [there]))
        running = Document(running.preamble, left, running.leads)
    return _with_backends(running, new, coming) if coming else running


def _with_backends(running: Document, new: Document, coming: Sequence[Section]) -> Document | None:
    """Returns the document with each backend after the section that it follows in `new`; None if it would inherit something else there."""
    added = set(map(id, coming))
    behind: dict[int, list[Section]] = {}
    last = None
    for section in sections_of(new):
        there = running.find(section.kind, new.address(section))
        if id(section) not in added:
            last = there or last
        elif there or last is None or last.file != section.file:
            return None
        else:
            behind.setdefault(id(last), []).append(section)
    placed = [ended for there in running.sections for ended in _ended(there, behind.get(id(there), ()))]
    result = Document(running.preamble, placed, running.leads)
    around, around_new = Surroundings(result), Surroundings(new)
    for section in coming:
        placed_section = result.find(section.kind, section.name)
        assert placed_section
        if around.is_conditional(placed_section) or around_new.is_conditional(section):
            return None
        if list(map(meaning, ancestors(result, placed_section))) != list(map(meaning, ancestors(new, section))):
            return None
    return result


def _ended(section: Section, followers: Sequence[Section]) -> list[Section]:
    """The section and those that follow it, each with a line end behind its last line."""
    if not followers:
        return [section]
    return [
        section_ if section_.text.endswith("\n") else section_.with_text(section_.text + section_.newline)
        for section_ in (section, *followers)
    ]


def _without(sections: Sequence[Section], others: Sequence[Section]) -> list[Section]:
    left_out = set(map(id, others))
    return [section for section in sections if id(section) not in left_out]
