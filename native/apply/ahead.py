"""A change that HAProxy can take now although another one waits for a reload. Pure."""

from native.apply.plan import directives_of, keys_of, meaning
from native.text.document import Document


def ahead(running: Document, before: Document, new: Document) -> Document | None:
    """The running document with only what tells `new` from `before`; None where that touches what waits."""
    if keys_of(before) != keys_of(new) or directives_of(before.preamble) != directives_of(new.preamble):
        return None
    result = running
    for old, section in zip(before.sections, new.sections, strict=True):
        if old is section or old.text == section.text:
            continue
        there = result.find(section.kind, section.name)
        if there is None or meaning(there) != meaning(old):
            return None
        result = result.replace(there, section)
    return result
