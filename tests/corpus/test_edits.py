"""Make random edits of all files one after the other. Each must change only its object, in a way that HAProxy accepts.

HAProxy checks every resulting text. An edit with a complaint is undone, because other lines may refer to a deleted object.
"""

import random
import re
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from haproxy_native.editing.resources import Resource
from haproxy_native.errors import NativeError
from haproxy_native.text.document import Document
from haproxy_native.text.pieces import split_lines
from haproxy_native.text.section import Section
from tests.corpus.test_corpus import FILES, REFEREE, changed, deleted, editor, everything, lost
from tests.haproxy import binaries
from tests.laws.referee import furnish

PLACE = re.compile(r"\[case\.cfg:(\d+)\]|\(at case\.cfg:(\d+)\)")
Child = tuple[Resource, tuple[Resource, str] | None, Any, dict[str, Any]]


@dataclass
class Chance:
    """Edits of one file. `made` counts the edits that have changed something and that HAProxy accepts."""

    path: Path
    directory: Path
    random: random.Random
    binary: str
    made: int = 0
    tried: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.document = Document.parse(self.path.read_bytes())
        self.complaints = self.asked(self.document)

    def next(self) -> None:
        before = list(everything(self.document))
        if not before:
            return
        chosen = self.random.choice(before)
        kind, new = self.edited(chosen)
        self.tried.append(kind)
        if new is None or new.data == self.document.data:
            return
        self.check_lines(kind, chosen, new)
        self.check_objects(chosen, before, new)
        complaints = self.asked(new)
        if len(complaints) > len(self.complaints):
            return
        self.document, self.complaints = new, complaints
        self.made += 1

    def edited(self, chosen: Child) -> tuple[str, Document | None]:
        resource, parent, key, body = chosen
        kind = self.random.choice(["replace", "replace", "create", "delete"] if parent else ["replace"])
        try:
            if kind == "delete":
                return kind, editor().delete(self.document, resource, parent, key)
            if kind == "create" and resource.kind == "indexed":
                return kind, editor().create(self.document, resource, parent, body, index=int(key))
            if kind == "create":
                return kind, editor().create(self.document, resource, parent, {**body, resource.key: f"new{len(self.tried)}"})
            other = self.other(resource, body)
            return kind, None if other is None else editor().replace(self.document, resource, parent, key, other)
        except NativeError:
            return kind, None

    def other(self, resource: Resource, body: dict[str, Any]) -> dict[str, Any] | None:
        """Return the object with one member changed or removed."""
        schemas = editor().grammar.schemas
        properties = schemas.properties(schemas.named(resource.schema))
        members = [name for name in body if name not in (resource.key, "index", "type", "name", "metadata")]
        if not members:
            return None
        name = self.random.choice(members)
        value, words = body[name], properties.get(name, {}).get("enum", [])
        if isinstance(value, bool) or self.random.random() < 0.2:
            return {member: each for member, each in body.items() if member != name}
        if isinstance(value, int):
            return {**body, name: value - 1 if value > 1 else value + 1}
        if value in words and len(words) > 1:
            return {**body, name: self.random.choice([word for word in words if word != value])}
        return None

    def check_lines(self, kind: str, chosen: Child, new: Document) -> None:
        """Assert that the edit has changed at most one line. A member of a section may have several lines."""
        gone, come = changed(self.document, new)
        if chosen[1] is not None and gone[:1] != [split_lines(self.document.text)[-1]]:
            most_gone = {"delete": deleted(self.document, chosen[0], chosen[1], chosen[2]), "create": 0, "replace": 1}[kind]
            few = len(lost(gone, come)) <= most_gone and len(lost(come, gone)) <= (kind != "delete")
            assert few, (kind, chosen, gone, come)
        section = self.section(self.document, chosen)
        assert section is not None
        outside = [each.text for each in self.document.sections if each is not section]
        assert outside == [each.text for each in new.sections if each is not self.section(new, chosen)], (kind, chosen)
        assert new.preamble == self.document.preamble

    def check_objects(self, chosen: Child, before: list[Child], new: Document) -> None:
        """Assert that objects in other sections and in other collections are unchanged."""

        def others(found: list[Child]) -> list[Child]:
            return [each for each in found if each[:2] != chosen[:2] and (chosen[1] is not None or each[0] != chosen[0])]

        assert others(list(everything(new))) == others(before), chosen

    def section(self, document: Document, chosen: Child) -> Section | None:
        resource, name = chosen[1] if chosen[1] else (chosen[0], str(chosen[2]))
        return document.find(resource.section, name if resource.kind == "section" else "")

    def asked(self, document: Document) -> set[tuple[str, str]]:
        """Return HAProxy's complaints: the line, and the message without numbers."""
        (self.directory / "case.cfg").write_bytes(document.data)
        ran = subprocess.run([self.binary, "-c", "-f", "case.cfg"], cwd=self.directory, capture_output=True, check=False)
        lines = document.data.decode("utf-8", "replace").split("\n")
        return set(_complaints(ran.stderr.decode("utf-8", "replace"), lines))


def _complaints(stderr: str, lines: list[str]) -> Iterator[tuple[str, str]]:
    for alert in re.findall(r"^\[ALERT\][^:]*:(.*)", stderr, re.MULTILINE):
        place = PLACE.search(alert)
        number = int(place[1] or place[2]) if place else 0
        yield lines[number - 1].strip() if 0 < number <= len(lines) else "", re.sub(r"\d+", "#", alert)


@pytest.mark.parametrize(("seed", "rounds"), [(2026, 2), *(pytest.param(seed, 25, marks=pytest.mark.soak) for seed in (1, 2))])
def test_an_edit_changes_what_was_asked_for(tmp_path: Path, seed: int, rounds: int) -> None:
    furnish(tmp_path, tomllib.loads(REFEREE.read_text())["files"])
    chance, made = random.Random(seed), 0
    for path in FILES:
        edits = Chance(path, tmp_path, chance, binaries.exactly("3.2"))
        for _ in range(rounds):
            edits.next()
        made += edits.made
    assert made > len(FILES) * rounds / 3
