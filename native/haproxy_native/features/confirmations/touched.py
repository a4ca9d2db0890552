"""The sections whose traffic a change can alter. Pure."""

import re
from collections.abc import Collection, Iterator

from haproxy_native.editing.defaults_sections import DEFAULTS, PROXIES, all_inherited_defaults
from haproxy_native.editing.object_names import parsed
from haproxy_native.text.document import Document


def sections(document: Document, objects: Collection[str]) -> frozenset[str]:
    """The names of the frontends, backends and listens that these objects are, stand in, or are used by.

    A defaults section counts as all that inherit it; a stored file or any other section as all that name it, `global` as all there are.
    """
    names = set[str]()
    for kind, name in {parsed(object_)[:2] if "/" in object_ else (object_, "") for object_ in objects}:
        if kind in PROXIES:
            names.add(name)
        else:
            names.update(_using(document, kind, name))
    return frozenset(names)


def _using(document: Document, kind: str, name: str) -> Iterator[str]:
    word = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])")
    for section, source in zip(document.sections, all_inherited_defaults(document), strict=True):
        if section.kind not in PROXIES:
            continue
        inherited = document.find(DEFAULTS, source or "")
        inherits = kind == DEFAULTS and source == name
        names = kind != DEFAULTS and (not name or word.search(section.text) or (inherited and word.search(inherited.text)))
        if inherits or names:
            yield section.name
