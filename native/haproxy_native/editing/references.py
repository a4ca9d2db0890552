"""References between sections: proxies that a deleted defaults section would silently bind to another one.

HAProxy refuses a `from` that names nothing; a proxy without `from` it would bind to whatever stands above. That is asked here.
"""

from collections.abc import Sequence

from haproxy_native.editing.bindings import DEFAULTS, all_implicit, named_defaults
from haproxy_native.errors import Place, Refused
from haproxy_native.text.document import Document
from haproxy_native.text.section import Section


def rebound(old: Document, new: Document) -> list[tuple[str, str]]:
    """(proxy, the defaults section it was bound to) of each that loses its defaults section without having asked for another.

    One that stands where another was, with a new name, is that one renamed.
    """
    names, others = old.of_kind(DEFAULTS), new.of_kind(DEFAULTS)
    gone = _gone(names, others)
    if not gone:
        return []
    renamed = {was: now for (was, _), (now, _) in zip(names, others, strict=True)} if len(names) == len(others) else {}
    before, after = _bound(old), _bound(new)
    return [(proxy, name) for proxy in after if (name := before.get(proxy, "")) in gone and after[proxy] != renamed.get(name)]


def _gone(old: Sequence[tuple[str, Section]], new: Sequence[tuple[str, Section]]) -> set[str]:
    """The names of the sections that are no longer there; one with the same text may have another number."""
    before, after = ({section.text for _, section in sections} for sections in (old, new))
    return {name for name, section in old if section.text not in after} - {name for name, section in new if section.text not in before}


def refuse_rebound(old: Document, new: Document) -> None:
    """Raises Refused when proxies lose the defaults section that they are bound to without a word."""
    if lost := rebound(old, new):
        users = "; ".join(f"{proxy} has no `from` and is bound to defaults {name}" for proxy, name in lost[:10])
        raise Refused(f"defaults section '{lost[0][1]}' is still used: {users}", place=Place(section=lost[0][0], member="from"))


def _bound(document: Document) -> dict[str, str]:
    """The implicit binding of every proxy without `from`."""
    pairs = zip(document.sections, all_implicit(document), strict=True)
    return {
        f"{section.kind} {section.name}": bound or ""
        for section, bound in pairs
        if named_defaults(section) is None and section.kind != DEFAULTS
    }
