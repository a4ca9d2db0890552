"""A change that HAProxy can take now although an earlier one waits for a reload. Pure."""

from haproxy_native.planning.plan import loose_directives, meaning
from haproxy_native.planning.section_order import keys_of, sections_of
from haproxy_native.text.document import Document


def ahead(running: Document, before: Document, new: Document) -> Document | None:
    """The running document with only what tells `new` from `before`; None where that touches what waits."""
    if keys_of(before) != keys_of(new) or loose_directives(before) != loose_directives(new):
        return None
    result = running
    for old, section in zip(sections_of(before), sections_of(new), strict=True):
        if old is section or old.text == section.text:
            continue
        there = result.find(section.kind, section.name)
        if there is None or meaning(there) != meaning(old):
            return None
        result = result.replace(there, section)
    return result
