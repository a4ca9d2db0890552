"""Declared objects, read from objects of the API and from text of a configuration. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from haproxy_native.editing.editor import Editor, Object
from haproxy_native.editing.resources import Resource
from haproxy_native.errors import BadRequest
from haproxy_native.features.apply.rules import Section
from haproxy_native.text.document import Document
from haproxy_native.text.section import BOUNDARY
from haproxy_native.text.section import Section as TextSection


def collections(editor: Editor) -> dict[str, Resource]:
    """What can be declared, by its collection."""
    kinds = ("section", "singleton")
    return {
        name: resource
        for name, resource in editor.resources.by_name.items()
        if resource.kind in kinds and not resource.parents and not resource.file
    }


def of_objects(
    editor: Editor, objects: Iterable[tuple[Resource, Mapping[str, Any]]], document: Document
) -> tuple[dict[Section, Object], dict[Section, TextSection]]:
    """Whole objects of collections, as the API shows them when they stand in a configuration, and their texts. Raises BadRequest.

    `document`: that which they will stand in, for their indentation.
    """
    declared, texts = dict[Section, Object](), dict[Section, TextSection]()
    for resource, body in objects:
        name = str(body.get(resource.key) or "") if resource.kind == "section" else ""
        if (resource.name, name) in declared:
            raise BadRequest(f"{resource.title} {name} is declared twice")
        declared[resource.name, name], texts[resource.name, name] = editor.as_written(resource, body, document)
    return declared, texts


def of_text(editor: Editor, text: bytes) -> tuple[dict[Section, Object], dict[Section, TextSection]]:
    """The sections of a part of a configuration, as objects and as they stand there. Raises BadRequest for what no object expresses."""
    document = Document.parse(text)
    by_kind = {collection.section: collection for collection in collections(editor).values()}
    declared, texts = dict[Section, Object](), dict[Section, TextSection]()
    if lines := [line.strip() for line in document.preamble.splitlines() if line.strip() and not line.lstrip().startswith("#")]:
        raise BadRequest(f"{lines[0][:100]!r} stands in no section; begin with one, as in backend shop")
    for name, section in zip(document.names(), document.sections, strict=True):
        resource = by_kind.get(section.kind)
        if section.kind == BOUNDARY or resource is None:
            raise BadRequest(f"a section of the kind {section.kind!r} is no object of the API, and cannot be owned")
        if (resource.name, name) in declared:
            raise BadRequest(f"{resource.title} {name} is declared twice")
        for place, words in editor.unreadable(section, resource):
            line = f", in {section.lines[place].text.strip()[:200]!r}" if words != section.lines[place].text.strip() else ""
            raise BadRequest(f"{resource.title} {name}: the API has no member for {words[:100]!r}{line}, so that nobody can own it")
        if conditions := section.open_conditionals() or [line for line in section.lines if line.args and line.args[0].startswith(".")]:
            raise BadRequest(f"{resource.title} {name}: a condition, as {conditions[0].text.strip()[:100]!r}, cannot be owned")
        key = name if resource.kind == "section" else ""
        declared[resource.name, key] = editor.get_object(document, resource, None, key, full=True)
        texts[resource.name, key] = section
    return declared, texts
