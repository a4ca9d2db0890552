"""Walk at random over the API with unusual files: send objects back unchanged, edit, create and delete them, and check the file.

An accepted step changes only its object, and a refused step changes nothing. Comments, conditionals and other sections must stay.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any
from urllib.parse import quote

from haproxy_native.editing.resources import Resource
from haproxy_native.grammar.load import bundle
from haproxy_native.text.document import Document
from haproxy_native.text.pieces import split_lines
from haproxy_native.text.section import CONDITIONALS, Section
from tests.app.client import Client, Got
from tests.corpus.test_corpus import changed, children, deleted, editor, keyed, lost, objects, sections
from tests.laws.lines import is_same
from tests.samples import line_samples, section_samples

HEADER = re.compile(r"# (?:_version=|_md5hash=|Dataplaneapi managed File|changing file directly can cause)")
PERSON = re.compile(r"# person \d+")
Parent = tuple[Resource, str] | None


@cache
def paths() -> Mapping[tuple[str, str, str], tuple[str, str]]:
    """Return the method and path of each action, by resource, parent and action."""
    found = {}
    for path, item in bundle()["paths"].items():
        for method, operation in item.items():
            about = operation.get("x-operation", {}) if isinstance(operation, dict) else {}
            if "resource" in about and "operationId" in operation:
                found.setdefault((about["resource"], about.get("parent", ""), about["action"]), (method.upper(), path))
    return found


def _quoted(name: Any) -> str:
    return quote(str(name), safe="", errors="surrogateescape")


@dataclass(frozen=True)
class Object:
    """An object of the file; a collection if the key is None."""

    resource: Resource
    parent: Parent
    key: Any

    def target(self, action: str) -> tuple[str, str] | None:
        """Return method and path. The query has only the parent."""
        found = paths().get((self.resource.name, self.parent[0].name if self.parent else "", action))
        if found is None:
            return None
        owner = self.resource.parent_parameter or "parent_name"
        values = {owner: self.parent[1] if self.parent else "", self.resource.key: self.key}
        path = re.sub(r"\{(\w+)\}", lambda place: _quoted(values[place[1]]), found[1])
        query = f"{owner}={_quoted(values[owner])}" if self.parent and "{" + owner + "}" not in found[1] else ""
        return found[0], f"/v3{path}?{query}"

    def __str__(self) -> str:
        return " ".join([*([self.parent[0].section, self.parent[1]] if self.parent else []), self.resource.name, str(self.key)])

    def section(self, document: Document) -> Section | None:
        resource, name = self.parent or (self.resource, str(self.key))
        return document.find(resource.section, name if resource.kind == "section" else "")


@dataclass
class Walk:
    """A walk over one file. `steps` counts the accepted steps by kind, `refused` the refused ones."""

    client: Client
    random: random.Random
    steps: dict[str, int] = field(default_factory=dict)
    refused: int = 0

    @property
    def text(self) -> str:
        """Return the file without the header of the server."""
        text = self.client.file.read_bytes().decode("utf-8", "surrogateescape")
        return "".join(line for line in split_lines(text) if not HEADER.match(line))

    def step(self) -> None:
        before = Document.parse(self.text)
        chosen = self.random.choice(list(_objects(before)) or [Object(editor().resources["backends"], None, "none")])
        kind = self.random.choice(["same", "same", "whole", "list", "edit", "edit", "create", "delete", "members", "reorder"])
        sent = getattr(self, kind)(chosen, before)
        if sent is None:
            return
        now, expected = Document.parse(self.text), f"{kind} of {chosen}"
        assert sent.status < 500, (expected, sent)
        if sent.status >= 400:
            self.refused += 1
            assert now.text == before.text, f"{expected} was refused: {sent}"
            return
        self.steps[kind] = self.steps.get(kind, 0) + 1
        if kind in ("same", "whole", "list"):
            assert now.text == before.text, f"{expected}: {changed(before, now)}"
        elif kind == "reorder":
            check_reordered(expected, chosen, before, now)
        else:
            check_people(expected, before, now, may_go=kind in ("delete", "members") or chosen.parent is None, own=kind == "edit")
            check_rest(expected, chosen, before, now, kind)

    # -- steps, which return None if there is no such call

    def same(self, chosen: Object, before: Document) -> Got | None:
        got = self.call(chosen, "get")
        return self.call(chosen, "replace", got.json) if got and got.status == 200 else None

    def whole(self, chosen: Object, before: Document) -> Got | None:
        if not chosen.resource.full_section:
            return None
        got = self.call(chosen, "get", full=True)
        return self.call(chosen, "replace", got.json, full=True) if got and got.status == 200 else None

    def list(self, chosen: Object, before: Document) -> Got | None:
        got = self.call(chosen, "list") if chosen.resource.kind == "indexed" else None
        return self.call(chosen, "replace_all", got.json) if got and got.json else None

    def reorder(self, chosen: Object, before: Document) -> Got | None:
        """Send a whole list with one element at another position, and perhaps with a new element."""
        got = self.call(chosen, "list") if chosen.resource.kind == "indexed" else None
        if not got or not got.json:
            return None
        rows = list(got.json)
        rows.insert(self.random.randrange(len(rows)), rows.pop(self.random.randrange(len(rows))))
        if self.random.random() < 0.5:
            rows.insert(self.random.randrange(len(rows) + 1), self.sample(chosen.resource))
        sent = self.call(chosen, "replace_all", rows)
        if sent and sent.status < 400:
            now = self.call(chosen, "list")
            assert now is not None
            assert len(now.json) == len(rows), (now.json, rows)
            for old, new in zip(rows, now.json, strict=True):
                lost = {name: value for name, value in old.items() if value != new.get(name) and not is_same(value, new.get(name))}
                assert not lost, f"{chosen}: {lost} of {old} in {new}"
        return sent

    def edit(self, chosen: Object, before: Document) -> Got | None:
        body = self.sample(chosen.resource) | ({chosen.resource.key: chosen.key} if chosen.resource.kind != "indexed" else {})
        sent = self.call(chosen, "replace", body)
        self.check_read_back(chosen, body, sent)
        return sent

    def create(self, chosen: Object, before: Document) -> Got | None:
        body = self.sample(chosen.resource)
        made = Object(chosen.resource, chosen.parent, f"walk{self.random.randrange(10**6)}")
        if chosen.resource.kind == "indexed":
            made = chosen
        else:
            body[chosen.resource.key] = made.key
        sent = self.call(made, "create", body)
        self.check_read_back(made, body, sent)
        return sent

    def delete(self, chosen: Object, before: Document) -> Got | None:
        return self.call(chosen, "delete")

    def members(self, chosen: Object, before: Document) -> Got | None:
        """Send a whole section with one of its children removed or added."""
        got = self.call(chosen, "get", full=True) if chosen.resource.full_section else None
        body = got.json if got and got.status == 200 else {}
        held = [name for name, _ in editor().resources.children(chosen.resource.name) if body.get(name)]
        if not held:
            return None
        name = self.random.choice(held)
        if isinstance(body[name], dict):
            del body[name][self.random.choice(list(body[name]))]
        else:
            del body[name][self.random.randrange(len(body[name]))]
        return self.call(chosen, "replace", body, full=True)

    # -- calls

    def sample(self, resource: Resource) -> dict[str, Any]:
        shape = editor().grammar
        found = line_samples(shape.line(resource.schema)) if resource.parents else section_samples(editor().shape(resource))
        return {name: value for name, value in self.random.choice(found).items() if name not in ("metadata", "from")}

    def call(self, chosen: Object, action: str, body: Any = None, *, full: bool = False) -> Got | None:
        target = chosen.target(action)
        if target is None:
            return None
        version = "" if action in ("get", "list") else f"&version={self.client.engine.version(None)}"
        got: Got = self.client(target[0], f"{target[1]}{version}{'&full_section=true' if full else ''}", body)
        return got

    def check_read_back(self, chosen: Object, body: Mapping[str, Any], sent: Got | None) -> None:
        """Assert that the answer is the request body, and that each of its members is in the file."""
        if sent is None or sent.status >= 400 or not sent.body:
            return
        found = self.call(chosen, "get")
        assert found is not None
        now = found.json
        lost = {name: value for name, value in sent.json.items() if value != now.get(name) and not is_same(value, now.get(name))}
        assert not lost, f"{chosen}: {lost} of {body} in {now}"


def _objects(document: Document) -> Iterator[Object]:
    yield from (Object(resource, None, name) for resource, name in sections(document) if name or resource.kind == "singleton")
    for resource, parent in children(document):
        if parent[1] or parent[0].kind == "singleton":
            yield from (Object(resource, parent, key) for key, _ in keyed(resource, objects(document, resource, parent)))


def people(document: Document) -> list[str]:
    """Return the lines that belong to no object: comments and conditionals."""
    lines = [line.strip() for line in split_lines(document.text)]
    return [line for line in lines if line.startswith("#") or line.split(" ")[0] in CONDITIONALS]


def check_people(expected: str, before: Document, now: Document, *, may_go: bool, own: bool) -> None:
    """Assert that comments and conditionals stay.

    With `may_go`, the comments on deleted lines may be deleted; without `own`, because the object is deleted, also the lines around them.
    """
    old, new = people(before), people(now)
    assert new == old or (may_go and not own and is_part(new, old)), f"{expected}: {old} became {new}"
    lost = set(PERSON.findall(before.text)) - set(PERSON.findall(now.text))
    assert not lost or may_go, f"{expected}: {lost} went"


def check_reordered(expected: str, chosen: Object, before: Document, now: Document) -> None:
    """Assert that all comments and conditionals stay, and that other sections are unchanged."""
    assert Counter(people(now)) == Counter(people(before)), f"{expected}: {changed(before, now)}"
    assert set(PERSON.findall(now.text)) == set(PERSON.findall(before.text)), f"{expected}: {changed(before, now)}"
    own, there = chosen.section(before), chosen.section(now)
    united = {chosen.resource.section, *([chosen.parent[0].section] if chosen.parent and not chosen.parent[1] else [])}
    old = [each.text for each in before.sections if each is not own and each.kind not in united]
    new = [each.text for each in now.sections if each is not there and each.kind not in united]
    assert new == old, expected


def is_part(short: list[str], long: list[str]) -> bool:
    rest = iter(long)
    return all(line in rest for line in short)


def check_rest(expected: str, chosen: Object, before: Document, now: Document, kind: str) -> None:
    """Assert that other sections, and the lines in the same section that are not part of the object, are unchanged."""
    own, there = chosen.section(before), chosen.section(now)
    if chosen.parent is None and kind in ("create", "delete"):
        less, more = sorted((before, now), key=lambda document: len(document.sections))
        old, new = ([_without_conditionals(each.text) for each in document.sections] for document in (less, more))
        assert len(new) == len(old) + 1 and is_part(old, new), f"{expected}: {old} and {new}"
        return
    united = {chosen.resource.section} if chosen.resource.kind == "singleton" else set()
    old = [each.text for each in before.sections if each is not own and each.kind not in united]
    new = [each.text for each in now.sections if each is not there and each.kind not in united]
    assert new == old, f"{expected}: {old} became {new}"
    gone, come = changed(before, now)
    if chosen.parent is not None:
        last = split_lines(before.text)[-1:]
        most = deleted(before, chosen.resource, chosen.parent, chosen.key) if kind == "delete" else 1
        few = len(lost(gone, come)) <= most and len(lost(come, gone)) <= (kind != "delete")
        assert few or gone[:1] == last, f"{expected}: {gone} became {come}"
    elif kind == "edit":
        old, new = ([line for line in split_lines(each.text if each else "") if _is_child(chosen.resource, line)] for each in (own, there))
        assert new == old, f"{expected}: {old} became {new}"


def _without_conditionals(text: str) -> str:
    """Return a text without conditionals. A deleted section leaves its unbalanced conditionals to the section above."""
    return "".join(line for line in split_lines(text) if line.strip().split(" ")[0] not in CONDITIONALS).rstrip("\r\n")


@cache
def _is_child(resource: Resource, line: str) -> bool:
    found = Document.parse(f"{resource.section} x\n{line}").sections[0]
    return any(editor().lines.children(found, child).places for _, child in editor().resources.children(resource.name))


def decorated(text: str, chance: random.Random) -> str:
    """Add comments, metadata, and `.if` blocks with duplicates of lines to a configuration."""
    lines: list[str] = []
    for number, (line, after) in enumerate(pairwise([*split_lines(text), ""])):
        bare, end = line.rstrip("\n"), "\n" if line.endswith("\n") else ""
        inner = line[:1] in " \t" and bare.strip() and "#" not in bare and not bare.strip().startswith(".") and not bare.endswith("\\")
        way = chance.random()
        if not inner or way > 0.25 or not after:
            lines.append(line)
        elif way < 0.1:
            lines.append(f"{bare}  # person {number}{end}")
        elif way < 0.15:
            lines.append(f'{bare} # {{"owner":"walk"}}{end}')
        elif way < 0.2:
            lines += ["  .if defined(WALK)\n", line, "  .else\n", line, "  .endif\n"]
        else:
            lines += [f"  # person {number}\n", "  .if !defined(WALK)\n", line, "  .endif\n"]
    return "".join(lines)
