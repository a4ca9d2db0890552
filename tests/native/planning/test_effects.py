"""What a change does to which objects, and that it can be taken back."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from haproxy_native.editing.editor import Editor
from haproxy_native.errors import Conflict
from haproxy_native.planning.effects import Effect, effects, is_expressible, with_effects
from haproxy_native.text.document import Document


def inverse(found: Sequence[Effect]) -> list[Effect]:
    """What takes them back."""
    return [replace(effect, old=effect.new, new=effect.old) for effect in reversed(found)]


TEXT = """\
global
  maxconn 100

defaults base
  mode http
  timeout client 5s

frontend web from base
  bind 127.0.0.1:80 name main
  acl static path_beg /static
  http-request deny if static
  http-request set-header X-A a
  default_backend app

backend app from base
  server web1 127.0.0.1:1 weight 10   # the first
  server web2 127.0.0.1:2

backend odd from base
  nonsense of no object
  server a/b* 127.0.0.1:3
"""
EDITOR = Editor()
Shown = list[tuple[str, str, Any, Any]]


def document(text: str) -> Document:
    return Document.parse(text.encode())


def effects_of(before: Document, new: Document) -> Shown:
    return [(each.object, each.member, each.old, each.new) for each in effects(before, new)]


DENY = {"cond": "if", "cond_test": "static", "type": "deny"}
HEADER = {"hdr_name": "X-A", "hdr_format": "a", "type": "set-header"}
CASES: list[tuple[str, str, Shown]] = [
    ("weight 10", "weight 20", [("backend/app/server/web1", "weight", 10, 20)]),
    (" weight 10", "", [("backend/app/server/web1", "weight", 10, None)]),
    ("127.0.0.1:3", "127.0.0.1:4", [("backend/odd/server/a%2Fb%2A", "port", 3, 4)]),
    ("maxconn 100", "maxconn 200", [("global", "performance_options", {"maxconn": 100}, {"maxconn": 200})]),
    ("  http-request deny if static\n", "", [("frontend/web/http_request_rule/0", "", DENY, None)]),
    ("  server web2 127.0.0.1:2\n", "", [("backend/app/server/web2", "", {"name": "web2", "address": "127.0.0.1", "port": 2}, None)]),
    ("  default_backend app\n", "", [("frontend/web", "default_backend", "app", None)]),
    ("# the first", "# the one", [("backend/app/server/web1", "metadata", {"comment": "the first"}, {"comment": "the one"})]),
    ("frontend web", "# another comment\nfrontend web", []),
    (
        "  http-request deny if static\n  http-request set-header X-A a\n",
        "  http-request set-header X-A a\n  http-request deny if static\n",
        [("frontend/web/http_request_rule/0", "", None, HEADER), ("frontend/web/http_request_rule/1", "", HEADER, None)],
    ),
]


@pytest.mark.parametrize(("old", "new", "wanted"), CASES)
def test_objects_and_members_that_change(old: str, new: str, wanted: Shown) -> None:
    before, after = document(TEXT), document(TEXT.replace(old, new))
    assert effects_of(before, after) == wanted
    found = effects(before, after)
    assert effects_of(with_effects(EDITOR, before, found), after) == []
    assert effects_of(with_effects(EDITOR, after, inverse(found)), before) == []


def test_many_of_one_list_take_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a push that changes each of n servers would cost n passes over all of them."""
    servers = "".join(f"  server s{number} 127.0.0.1:1 weight 1\n" for number in range(40))
    before, after = (document(f"backend many\n{servers}".replace("weight 1", weight)) for weight in ("weight 1", "weight 2"))
    passes, replaced = [], EDITOR.lines.replace
    monkeypatch.setattr(EDITOR.lines, "replace", lambda *given: passes.append(given) or replaced(*given))
    assert with_effects(EDITOR, before, effects(before, after)).text == after.text
    assert len(passes) == 1


def test_a_rule_that_is_replaced_stays_above_other_lines() -> None:
    before = document(TEXT.replace("  http-request set-header X-A a\n", ""))
    after = document(before.text.replace("http-request deny if static", "http-request tarpit if static"))
    assert [effect.object for effect in effects(before, after)] == ["frontend/web/http_request_rule/0"] * 2
    assert with_effects(EDITOR, before, effects(before, after)).text == after.text
    assert with_effects(EDITOR, after, inverse(effects(before, after))).text == before.text


def test_a_section_that_comes_or_goes_is_one_effect() -> None:
    more = document(TEXT + "\nbackend more from base\n  server m1 127.0.0.1:9\n")
    (effect,) = effects(document(TEXT), more)
    assert (effect.object, effect.member, effect.old) == ("backend/more", "", None)
    assert effect.new["servers"]["m1"]["port"] == 9
    assert effects_of(with_effects(EDITOR, more, inverse([effect])), document(TEXT)) == []
    assert effects_of(with_effects(EDITOR, document(TEXT), [effect]), more) == []


def test_what_no_object_expresses_is_told_in_lines() -> None:
    before, after = document(TEXT), document(TEXT.replace("of no object", "of no object at all"))
    found = effects(before, after)
    assert effects_of(before, after) == [("backend/odd", "lines", ["nonsense of no object"], ["nonsense of no object at all"])]
    with pytest.raises(Conflict, match="backend/odd has no name, or has lines that no object can express"):
        with_effects(EDITOR, after, inverse(found))
    program = document(TEXT + "\nprogram other\n  command x\n")
    assert [each[:2] for each in effects_of(before, program)] == [("program/other", "lines")]


def test_sections_of_one_name_are_told_in_lines() -> None:
    twice = TEXT + "\nbackend app from base\n  server web9 127.0.0.1:9\n"
    assert [each[:2] for each in effects_of(document(twice), document(twice.replace("web9", "web8")))] == [("backend/app", "lines")]


def test_another_place_in_the_file_may_be_another_meaning() -> None:
    free = "defaults a\n  mode http\nbackend free\n  server s 127.0.0.1:1\n"
    moved = free.replace("backend free", "defaults b\n  mode tcp\nbackend free")
    assert ("backend/free", "from", "a", "b") in effects_of(document(free), document(moved))


def test_a_nameless_section_that_gets_another_number() -> None:
    before = document("defaults\n  mode http\nbackend b\n")
    more = Document(before.preamble, [*document("defaults\n").sections, *before.sections])
    assert effects_of(before, more) == effects_of(before, document(more.text))
    assert ("defaults/unnamed_defaults_2", "", None) in [each[:3] for each in effects_of(before, more)]


def test_another_change_stays() -> None:
    before, after = document(TEXT), document(TEXT.replace("weight 10", "weight 20"))
    later = document(TEXT.replace("weight 10", "weight 20").replace("127.0.0.1:1", "127.0.0.9:1") + "\nbackend later from base\n")
    back = with_effects(EDITOR, later, inverse(effects(before, after)))
    assert [each[0] for each in effects_of(later, back)] == ["backend/app/server/web1"]
    assert EDITOR.get_object(back, EDITOR.resources["servers"], (EDITOR.resources["backends"], "app"), "web1")["address"] == "127.0.0.9"


CORPUS = sorted((Path(__file__).parents[2] / "corpus" / "valid").glob("*.cfg"))


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_lines_that_go_from_real_files_come_back(path: Path) -> None:
    """A few lines are taken out of a file; the effects of that do the same to it, and take it back."""
    chance, lines = random.Random(path.name), path.read_text(errors="surrogateescape").splitlines(keepends=True)
    before = Document.parse("".join(lines).encode("utf-8", "surrogateescape"))
    for _ in range(4):
        gone = set(chance.sample(range(len(lines)), min(3, len(lines))))
        text = "".join(line for number, line in enumerate(lines) if number not in gone)
        after = Document.parse(text.encode("utf-8", "surrogateescape"))
        found = effects(before, after)
        if not all(map(is_expressible, found)):
            continue
        assert effects_of(with_effects(EDITOR, before, found), after) == []
        assert effects_of(with_effects(EDITOR, after, inverse(found)), before) == []
