"""A patch of a section changes only the lines of its members. All other lines stay, including those that no object can express."""

import contextlib
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest

from haproxy_native.editing.editor import standard_editor
from haproxy_native.editing.resources import Resource
from haproxy_native.errors import NativeError
from haproxy_native.grammar.directive import Directive
from haproxy_native.text.document import Document
from haproxy_native.text.section import Section
from tests.laws.settings import cases, part
from tests.samples import directive_samples, line_samples

EDITOR = standard_editor()
KINDS = [each for each in EDITOR.resources.by_name.values() if each.kind in ("section", "singleton") and each.section and not each.file]
# How many patches are tried, and how many must be accepted. HAProxy accepts few of them in a frontend.
TRIED, ENOUGH = 100, 30
# Reduced cases: lines that HAProxy accepts and no member expresses.
UNREAD = ("redirect location /x", "http-check expect !status 200", "max-session-srv-conns 7", "zork 1 # theirs", "# a person's", "")


@pytest.mark.parametrize("resource", KINDS, ids=lambda each: each.name)
def test_what_a_patch_does_not_name_stays(resource: Resource) -> None:
    chance, done = random.Random(resource.name), 0
    for _ in range(cases(TRIED)):
        if done == cases(ENOUGH):
            break
        text = _text(resource, chance)
        document = Document.parse(text)
        name = "s" if resource.kind == "section" else ""
        section = EDITOR.section(document, resource, name)
        assert section
        whole = EDITOR.get_object(document, resource, None, name, full=True)
        part = _part(resource, whole, chance)
        try:
            after = EDITOR.section(EDITOR.replace(document, resource, None, name, _merged(whole, part), full=True), resource, name)
        except NativeError:
            continue
        assert after
        done += 1
        _stays(resource, section, after, part)
    assert done > 1, "hardly any patch is one that the section takes"


def _stays(resource: Resource, section: Section, after: Section, part: Mapping[str, Any]) -> None:
    named = _named(resource, section, part)
    staying = [line.text for place, line in enumerate(section.lines) if place not in named]
    left = [line.text for line in after.lines]
    assert not (gone := Counter(staying) - Counter(left)), f"{part} took {list(gone)} from\n{section.text}"
    # An ACL may move above a line that names it, and a comment with the line below it.
    lines, moving = iter(left), ("acl", "#")
    assert all(text in lines for text in staying if not text.lstrip().startswith(moving)), f"{part} moved lines of\n{section.text}"


def _named(resource: Resource, section: Section, part: Mapping[str, Any]) -> set[int]:
    """Return the indices of the lines of the patched members."""
    shape = EDITOR.shape(resource)
    members = set(part) | {alias.target for alias in shape.list_aliases if alias.member in part}
    places = {0} if members & {"from", "metadata", *shape.header.members} else set()
    for number, lines in shape.reading(section).lines.items():
        if members & _members(shape.directives[number]):
            places |= {place for place, _ in lines}
    for member, child in EDITOR.resources.children(resource.name):
        children = EDITOR.lines.children(section, child)
        for place, object_ in zip(children.places, children.objects, strict=True):
            if object_ is not None and member in part and (child.kind == "indexed" or object_[child.key] in part[member]):
                places.add(place)
    return places


def _members(directive: Directive) -> set[str]:
    return {directive.path[0]} if directive.path else {directive.rows, *directive.shape.members}


def _part(resource: Resource, whole: Mapping[str, Any], chance: random.Random) -> dict[str, Any]:
    """Return a random merge patch: it changes, adds and deletes members, and children by name."""
    children = dict(EDITOR.resources.children(resource.name))
    own = [member for member in whole if member not in (resource.key, *children)]
    part: dict[str, Any] = dict.fromkeys(chance.sample(own, min(len(own), chance.randrange(2))))
    directives = EDITOR.shape(resource).directives
    for directive in chance.sample(directives, min(len(directives), chance.randrange(3))):
        part |= chance.choice(list(directive_samples(directive)) or [{}])
    for member, child in children.items():
        if chance.random() < 0.3:
            rows = list(_rows(child, chance))
            part[member] = rows if child.kind == "indexed" else {row[child.key]: row for row in rows}
            if child.kind == "named" and whole.get(member):
                part[member][chance.choice(list(whole[member]))] = None
    return part


def _merged(whole: Mapping[str, Any], part: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(whole)
    for member, value in part.items():
        if isinstance(value, Mapping) and isinstance(merged.get(member), Mapping):
            value = _merged(merged[member], value)
        merged[member] = value
    return {member: value for member, value in merged.items() if value is not None}


def _text(resource: Resource, chance: random.Random) -> str:
    """Return a section with lines of any kind in any order, and with unknown lines."""
    shape = EDITOR.shape(resource)
    lines = list(UNREAD)
    for directive in chance.sample(shape.directives, min(len(shape.directives), 6)):
        for row in chance.sample(samples := line_samples(directive.shape), min(len(samples), 2 if directive.rows else 1)):
            lines.append(_spelled(directive.shape.new(row).text))
    for _, child in EDITOR.resources.children(resource.name):
        lines += [_spelled(EDITOR.lines.shape(child).new(row).text) for row in _rows(child, chance)]
        lines += [" ".join((*prefix, "zork")) for prefix in EDITOR.lines.shape(child).prefixes()]
    chance.shuffle(lines)
    header = f"{resource.section} s" if resource.kind == "section" else resource.section
    return f"{header}   # theirs\n" + "".join(f"\t{line}\n" for line in lines)


def _rows(child: Resource, chance: random.Random) -> Iterator[Mapping[str, Any]]:
    samples = line_samples(EDITOR.lines.shape(child))
    for number, row in enumerate(chance.sample(samples, min(len(samples), 2))):
        yield {**row, child.key: f"n{number}{chance.randrange(9)}"} if child.kind == "named" and child.key in row else row


def _spelled(text: str) -> str:
    return "   ".join(text.strip().split(" "))


@pytest.mark.parametrize("resource", KINDS, ids=lambda each: each.name)
def test_no_member_is_needed_silently(resource: Resource) -> None:
    """A body without one of its members is accepted, or refused with a message. Nothing fails because of the missing member."""
    shape = EDITOR.shape(resource)
    header = f"{resource.section} s\n" if resource.kind == "section" else f"{resource.section}\n"
    name = "s" if resource.kind == "section" else ""
    for directive in part(shape.directives, resource.name):
        shown, is_tried = [], False
        for lines in _several(part(line_samples(directive.shape), resource.name)):
            texts = [directive.shape.new(row).text for row in lines]
            document = Document.parse(header + "".join(f"  {text.strip()}\n" for text in texts))
            whole = EDITOR.get_object(document, resource, None, name)
            if len(lines) == 1:
                shown.append(whole)
            elif whole in shown:
                # The other line is not shown, so one such pair is enough.
                if is_tried:
                    continue
                is_tried = True
            for left in _without_one(whole):
                with contextlib.suppress(NativeError):
                    EDITOR.replace(document, resource, None, name, left)


def _several(samples: Sequence[Mapping[str, Any]]) -> Iterator[Sequence[Mapping[str, Any]]]:
    """Return each sample alone, and each with the next sample."""
    yield from ([sample] for sample in samples)
    yield from map(list, pairwise(samples))


def _without_one(whole: Any) -> Iterator[Any]:
    """Yield the value without each of its members in turn, at any depth."""
    if isinstance(whole, Mapping):
        for member, value in whole.items():
            yield {name: other for name, other in whole.items() if name != member}
            yield from ({**whole, member: part} for part in _without_one(value))
    elif isinstance(whole, list):
        for place, value in enumerate(whole):
            yield from ([*whole[:place], part, *whole[place + 1 :]] for part in _without_one(value))
