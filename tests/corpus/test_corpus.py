"""Read files as operators write them: written back, each is the same byte for byte, and an edit changes only its line."""

import json
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from haproxy_native.editing.children import unquoted_name
from haproxy_native.editing.editor import Editor
from haproxy_native.editing.resources import Resource, Resources
from haproxy_native.errors import BadValue, Exists, NativeError, UnknownWords
from haproxy_native.grammar.load import Grammar
from haproxy_native.text.document import CONFIGURATION, Document
from haproxy_native.text.pieces import split_lines
from openapi import bundle
from tests.haproxy import binaries
from tests.laws.referee import furnish

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*/*.cfg"))
# Parameters of a test that asks HAProxy about each: a third of them, and in `make soak` the others.
SOME = [pytest.param(path, marks=pytest.mark.soak if place % 3 else ()) for place, path in enumerate(FILES)]
REFEREE = Path(__file__).parents[1] / "laws" / "referee.toml"
# Objects that are read of odd files and refused when they are written: what HAProxy needs is missing, or what they name.
REFUSED = {"odd/header-comments": 1, "odd/nul": 1}
# A rule names an ACL that stands below it, which HAProxy refuses: another such rule takes the ACL above itself.
MOVED = {"odd/rules-with-odd-conditions"}
Child = tuple[Resource, tuple[Resource, str]]


@pytest.fixture(params=FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def path(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


@pytest.fixture
def data(path: Path) -> bytes:
    return path.read_bytes()


@cache
def editor() -> Editor:
    """Return an editor for all declarations, including those that no operation uses yet."""
    document = bundle.document(everything=True)
    return Editor(Grammar(document), Resources(document["x-resources"]))


def sections(document: Document) -> Iterator[tuple[Resource, str]]:
    """Yield each section that a resource can address, once."""
    by_kind: dict[str, dict[str, None]] = {}
    for name, section in zip(document.names(), document.sections, strict=True):
        by_kind.setdefault(section.kind, {})[name] = None
    for resource in editor().resources.by_name.values():
        if resource.kind in ("section", "singleton") and not resource.parents:
            names = by_kind.get(resource.section, {})
            yield from (
                (resource, name if resource.kind == "section" else "") for name in list(names)[: None if resource.kind == "section" else 1]
            )


def children(document: Document) -> Iterator[Child]:
    parents = list(sections(document))
    for resource in editor().resources.by_name.values():
        for parent, name in parents if resource.kind in ("named", "indexed") else ():
            if parent.name in resource.parents:
                yield resource, (parent, name)


def keyed(resource: Resource, objects: list[dict[str, Any]]) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Return objects by name or index. Of objects with the same name, return the first."""
    seen = set()
    for each in objects:
        if each[resource.key] not in seen:
            seen.add(each[resource.key])
            yield each[resource.key], each


def changed(old: Document, new: Document) -> tuple[list[str], list[str]]:
    """Return the deleted lines and the added lines."""
    before, after = split_lines(old.text), split_lines(new.text)
    start = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after)))
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return before[start : len(before) - end], after[start : len(after) - end]


def deleted(document: Document, resource: Resource, parent: tuple[Resource, str], key: Any) -> int:
    """Return how many lines a deletion may delete: all lines with the name in branches of an `.if`."""
    section = document.find(parent[0].section, parent[1] if parent[0].kind == "section" else "")
    if resource.kind != "named" or section is None or ".if" not in section.text:
        return 1
    return sum(unquoted_name(each[resource.key]) == unquoted_name(key) for each in objects(document, resource, parent))


def lost(gone: list[str], come: list[str]) -> list[str]:
    """Return the lines that are not on both sides."""
    return list((Counter(gone) - Counter(come)).elements())


def test_there_are_enough_and_every_kind_of_section() -> None:
    kinds = {section.kind for file in FILES for section in Document.parse(file.read_bytes()).sections}
    enterprise = {"dynamic-update", "waf-profile", "botmgmt-profile"}
    assert len(FILES) >= 60
    assert kinds >= CONFIGURATION.kinds - enterprise


def test_comes_back_byte_for_byte(data: bytes) -> None:
    document = Document.parse(data)
    assert document.data == data
    lines = [line.split.join() for section in document.sections for line in section.lines]
    assert "".join(lines) == "".join(section.text for section in document.sections)


def test_is_read_whole(data: bytes) -> None:
    document = Document.parse(data)
    for resource, name in sections(document):
        assert isinstance(json.dumps(editor().get_object(document, resource, None, name, full=True)), str)
    for resource, parent in children(document):
        json.dumps(editor().list_objects(document, resource, parent))
        assert editor().unparsed(document, resource, parent) == sorted(editor().unparsed(document, resource, parent))


def test_told_what_it_says_it_stays(path: Path) -> None:
    document = Document.parse(path.read_bytes())
    refused = []
    for resource, parent, key, body in everything(document):
        try:
            assert editor().replace(document, resource, parent, key, body).data == document.data, body
        except (BadValue, UnknownWords) as error:
            refused.append((body, str(error)))
    assert len(refused) == REFUSED.get(f"{path.parent.name}/{path.stem}", 0), refused


def everything(document: Document) -> Iterator[tuple[Resource, tuple[Resource, str] | None, Any, dict[str, Any]]]:
    """Yield each section and each child: its resource, parent, key and object."""
    for resource, name in sections(document):
        yield resource, None, name, editor().get_object(document, resource, None, name)
    for resource, parent in children(document):
        for key, body in keyed(resource, objects(document, resource, parent)):
            yield resource, parent, key, body


def objects(document: Document, resource: Resource, parent: tuple[Resource, str]) -> list[dict[str, Any]]:
    """Yield the children of a section. The key of a list element is its index among all lines of the list."""
    found = editor().list_objects(document, resource, parent)
    if resource.kind == "named":
        return found
    unparsed = set(editor().unparsed(document, resource, parent))
    places = [i for i in range(len(found) + len(unparsed)) if i not in unparsed]
    return [{**each, "index": place} for each, place in zip(found, places, strict=True)]


def test_one_line_comes_and_goes(path: Path) -> None:
    document = Document.parse(path.read_bytes())
    for resource, parent in children(document):
        found = objects(document, resource, parent)
        for key, each in keyed(resource, found):
            without = editor().delete(document, resource, parent, key)
            gone, come = changed(document, without)
            assert (len(gone), come) == (1, []), (each, gone, come)
            if resource.kind == "indexed":
                longer = try_create(document, resource, parent, each, key)
            else:
                longer = try_create(document, resource, parent, {**each, resource.key: "brand-new"}, None)
            if longer is not None:
                gone, come = changed(document, longer)
                if f"{path.parent.name}/{path.stem}" in MOVED:
                    gone, come = lost(gone, come), lost(come, gone)
                assert (len(come), gone) == (1, []), (each, gone, come)


def try_create(
    document: Document, resource: Resource, parent: tuple[Resource, str], body: dict[str, Any], index: int | None
) -> Document | None:
    """Return the document with one more child; None if its values do not make a line."""
    try:
        return editor().create(document, resource, parent, body, index=index)
    except (BadValue, Exists):
        return None


def test_a_section_comes_and_goes(data: bytes) -> None:
    document = Document.parse(data)
    for resource, name in sections(document):
        if resource.kind == "section" and name:
            without = editor().delete(document, resource, None, name)
            assert len(without.sections) == len(document.sections) - 1
            others = [section for section in document.sections if section is not document.find(resource.section, name)]
            assert all(section.text.rstrip("\r\n") in without.text for section in others)
    try:
        longer = editor().create(document, editor().resources["backends"], None, {"name": "brand-new"})
    except NativeError as refused:
        pytest.fail(str(refused))
    gone, come = changed(document, longer)
    assert "".join(come).strip() == "backend brand-new" or gone == [split_lines(document.text)[-1]]


@pytest.mark.parametrize("valid", sorted(HERE.glob("valid/*.cfg")), ids=lambda file: file.stem)
def test_haproxy_takes_it(valid: Path, tmp_path: Path) -> None:
    furnish(tmp_path, tomllib.loads(REFEREE.read_text())["files"])
    command = [binaries.exactly("3.2"), "-c", "-f", str(valid)]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
