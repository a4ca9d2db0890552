"""Account keys of `acme` sections: HAProxy creates a missing one even when it only checks, and refuses the text if it cannot.

A check changes nothing; so it is repeated with a text that has such keys in the scratch directory.
"""

import re
from collections.abc import Collection
from pathlib import Path

from haproxy_native.editing.editor import standard_editor
from haproxy_native.text.document import Document

_NOT_MADE = re.compile(r"acme: cannot create the file '([^']+)'")
_KIND, _MEMBER = "acme", "account_key"


def not_made(stderr: str) -> frozenset[str]:
    """The keys that HAProxy could not create."""
    return frozenset(_NOT_MADE.findall(stderr))


def with_keys_in(scratch: Path, document: Document, keys: Collection[str]) -> Document:
    """The document with these keys below another directory. Where a section has named none, those behind it move down by a line."""
    editor = standard_editor()
    resource = editor.resources.by_section[_KIND]
    for number, (name, _) in enumerate(document.of_kind(_KIND)):
        section = editor.get_object(document, resource, None, name)
        if section.get(_MEMBER, f"{name}.account.key") in keys:
            key = str(scratch / f"{number}.key")
            document = editor.replace(document, resource, None, name, {**section, _MEMBER: key})
    return document
