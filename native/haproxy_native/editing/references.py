"""References between sections: proxies that a deleted defaults section would silently bind to another one.

HAProxy refuses a `from` that names nothing; a proxy without `from` it would bind to whatever stands above. That is asked here.
"""

from haproxy_native.editing.bindings import DEFAULTS, all_implicit, named_defaults
from haproxy_native.errors import Place, Refused
from haproxy_native.text.document import Document


def rebound(old: Document, new: Document) -> list[tuple[str, str]]:
    """(proxy, the defaults section it was bound to) of each that loses its defaults section without having asked for another.

    One that stands where another was, with a new name, is that one renamed.
    """
    names, others = _defaults(old), _defaults(new)
    gone = set(names) - set(others)
    if not gone:
        return []
    renamed = dict(zip(names, others, strict=True)) if len(names) == len(others) else {}
    before, after = _bound(old), _bound(new)
    return [(proxy, name) for proxy in after if (name := before.get(proxy, "")) in gone and after[proxy] != renamed.get(name)]


def refuse_rebound(old: Document, new: Document) -> None:
    """Raises Refused when proxies lose the defaults section that they are bound to without a word."""
    if lost := rebound(old, new):
        users = "; ".join(f"{proxy} has no `from` and is bound to defaults {name}" for proxy, name in lost[:10])
        raise Refused(f"defaults section '{lost[0][1]}' is still used: {users}", place=Place(section=lost[0][0], member="from"))


def _defaults(document: Document) -> list[str]:
    return [name for name, _ in document.of_kind(DEFAULTS)]


def _bound(document: Document) -> dict[str, str]:
    """The implicit binding of every proxy without `from`."""
    pairs = zip(document.sections, all_implicit(document), strict=True)
    return {
        f"{section.kind} {section.name}": bound or ""
        for section, bound in pairs
        if named_defaults(section) is None and section.kind != DEFAULTS
    }
