"""Plan declarations, and check a law: values that others own or have written stay after any declaration."""

import random
from typing import Any

import pytest

from haproxy_native.editing.editor import Editor
from haproxy_native.features.apply.owners import ITSELF, Owners
from haproxy_native.features.apply.planner import Planned, plan_declaration
from haproxy_native.features.apply.rules import Declaration, OwnershipConflict
from haproxy_native.features.apply.sections import of_text, part_name, parts_of
from haproxy_native.request_context import NOBODY
from haproxy_native.text.document import Document

EDITOR = Editor()
START = """\
global
    maxconn 100

defaults base
    mode http

backend hand from base
    server x 127.0.0.1:9
"""
SHOP = """\
backend shop from base
    balance roundrobin
    http-request deny if { path /a }
    server a 127.0.0.1:1 weight 5
    server b 127.0.0.1:2
"""
B = "    server b 127.0.0.1:2\n"


class Site:
    """A configuration with its owners."""

    def __init__(self, text: str = START) -> None:
        self.document, self.owners = Document.parse(text), Owners()

    def plan(self, owner: str, text: str, **how: Any) -> Planned:
        sections, texts = of_text(EDITOR, text.encode())
        return plan_declaration(EDITOR, self.document, self.owners, Declaration(owner, sections, texts=texts, **how, author=NOBODY))

    def apply(self, owner: str, text: str, **how: Any) -> Planned:
        found = self.plan(owner, text, **how)
        if not found.conflicts:
            self.document, self.owners = found.document, found.owners
        return found

    def edit(self, old: str, new: str) -> None:
        assert old in self.document.text
        self.document = Document.parse(self.document.text.replace(old, new))


@pytest.fixture
def site() -> Site:
    site = Site()
    assert not site.apply("a", SHOP).conflicts
    return site


def effects(found: Planned) -> list[tuple[str, str, Any, Any]]:
    """Objects that come or go are the empty text."""
    rows = ((each, [value if each.member or value is None else "" for value in (each.old, each.new)]) for each in found.effects)
    return [(each.object, each.member, old, new) for each, (old, new) in rows]


def test_again_nothing_differs(site: Site) -> None:
    found = site.plan("a", SHOP)
    assert found.document is site.document and found.owners == site.owners and found.effects == ()
    assert found.unchanged == ["backend/shop", "backend/shop/server/a", "backend/shop/server/b"]
    assert SHOP in site.document.text, "as it was sent"


def test_changed_and_deleted(site: Site) -> None:
    found = site.apply("a", SHOP.replace("weight 5", "weight 7").replace(B, "").replace("path /a", "path /b"))
    assert ("backend/shop/server/a", "weight", 5, 7) in effects(found) and ("backend/shop/server/b", "", "", None) in effects(found)
    assert {each[0] for each in effects(found)} == {"backend/shop/server/a", "backend/shop/server/b", "backend/shop/http_request_rule/0"}
    assert found.unchanged == []
    assert [each[0] for each in effects(site.apply("a", ""))] == ["backend/shop"] and site.document.text.strip() == START.strip()
    assert site.owners == Owners()


def test_without_pruning(site: Site) -> None:
    found = site.apply("a", "backend more from base\n", prune=False)
    assert effects(found) == [("backend/more", "", None, "")] and SHOP in site.document.text
    assert {each.object for each in site.apply("a", "").effects} == {"backend/shop", "backend/more"}, "it is owned all the same"


def test_a_conflict_changes_nothing(site: Site) -> None:
    found = site.apply("b", "backend shop\n    balance source\n    server a 127.0.0.1:1 weight 6\nbackend new from base\n")
    assert found.conflicts == [
        OwnershipConflict("backend/shop", "balance", ["a"], {"algorithm": "roundrobin"}, {"algorithm": "source"}),
        OwnershipConflict("backend/shop/server/a", "weight", ["a"], 5, 6),
    ]
    assert {each.object for each in found.effects} == {"backend/new"} and found.unchanged == [], "what would be done besides"
    assert "new" not in site.document.text
    forced = site.apply("b", "backend shop\n    balance source\n", force=True)
    assert forced.overruled == [found.conflicts[0]] and "balance source" in site.document.text
    assert [each.owners for each in site.apply("a", SHOP).conflicts] == [["b"]], "it is the other one's from then on"


def test_equal_values_are_owned_together(site: Site) -> None:
    assert site.apply("b", "backend shop\n    balance roundrobin\n    server a 127.0.0.1:1 weight 5\n").effects == ()
    gone = site.apply("a", "")
    assert {each.object for each in gone.effects} == {"backend/shop/server/b", "backend/shop/http_request_rule/0"}
    assert "balance roundrobin" in site.document.text and "server a 127.0.0.1:1 weight 5" in site.document.text
    site.apply("b", "")
    assert "shop" not in site.document.text


def test_adopting_a_file_changes_nothing() -> None:
    site = Site(START + SHOP)
    found = site.apply("a", START + SHOP)
    assert found.effects == () and found.conflicts == [] and found.document is found.before
    assert [each.object for each in site.apply("a", START).effects] == ["backend/shop"]


def test_edits_by_hand_are_conflicts(site: Site) -> None:
    site.edit("weight 5", "weight 9")
    assert site.plan("a", SHOP).conflicts == [OwnershipConflict("backend/shop/server/a", "weight", ["outside"], 9, 5)]
    assert site.plan("a", SHOP.replace("weight 5", "weight 9")).conflicts == [], "the same value is no conflict"
    left = site.plan("a", SHOP.replace(" weight 5", ""))
    assert left.effects == () and left.conflicts == [], "what was changed by hand stays when it is given up"
    assert site.plan("a", SHOP, unowned=["weight"]).effects == ()
    taken = site.apply("a", SHOP, force=True)
    assert [each.owners for each in taken.overruled] == [["outside"]] and "weight 5" in site.document.text


def test_comments_of_people_are_no_edits(site: Site) -> None:
    """Comments on the lines of a list are metadata of its elements."""
    site.edit("{ path /a }\n", "{ path /a } # why\n")
    site.edit("weight 5\n", "weight 5 # slow\n")
    found = site.plan("a", SHOP)
    assert (found.document is site.document, found.conflicts) == (True, [])
    assert not site.apply("a", SHOP.replace("path /a", "path /b")).conflicts
    assert "{ path /b } # why\n" in site.document.text
    assert not site.apply("a", "").conflicts
    assert "shop" not in site.document.text


def test_what_was_removed_by_hand_comes_back(site: Site) -> None:
    site.edit(B, "")
    assert effects(site.apply("a", SHOP)) == [("backend/shop/server/b", "", None, "")]


def test_members_that_are_left_to_others() -> None:
    site = Site()
    site.apply("a", SHOP, unowned=["weight"])
    assert "weight 5" in site.document.text, "a new object gets them"
    assert site.apply("scaler", "backend shop\n    server a 127.0.0.1:1 weight 40\n", force=True).overruled != []
    site = Site()
    site.apply("a", SHOP, unowned=["weight"])
    site.edit("weight 5", "weight 40")
    assert site.apply("a", SHOP, unowned=["weight"]).effects == () and "weight 40" in site.document.text


def test_what_nobody_declared_keeps_its_section(site: Site) -> None:
    site.edit(B, f"{B}    server mine 127.0.0.1:3\n")
    found = site.apply("a", "")
    assert found.conflicts == [OwnershipConflict("backend/shop/server/mine", ITSELF, ["outside"], {}, None)]
    assert [each.object for each in site.apply("a", "", force=True).effects] == ["backend/shop"]


@pytest.mark.parametrize(
    ("old", "new", "left", "expected"),
    [
        ("b 127.0.0.1:2", "b 127.0.0.1:2 weight 9", SHOP.replace(B, ""), ("backend/shop/server/b", "weight", 9)),
        ("weight 5", "weight 6", SHOP.replace("    server a 127.0.0.1:1 weight 5\n", ""), ("backend/shop/server/a", "weight", 6)),
        ("    balance roundrobin\n", "    balance roundrobin\n    retries 4\n", "", ("backend/shop", "retries", 4)),
        ("weight 5", "weight 6", "", ("backend/shop/server/a", "weight", 6)),
        ("deny if { path /a }", "deny if { path /b }", "", None),
    ],
    ids=["set", "changed", "set in a section", "changed in a section", "a list in a section"],
)
def test_what_others_have_set_keeps_its_object(site: Site, old: str, new: str, left: str, expected: tuple[str, str, Any] | None) -> None:
    site.edit(old, new)
    found = site.apply("a", left)
    (conflict,) = found.conflicts
    assert found.effects == ()
    assert expected is None or (conflict.object, conflict.member, conflict.theirs) == expected
    assert (conflict.owners, conflict.mine) == (["outside"], None)
    assert expected is None or not site.apply("a", left, unowned=[expected[1]]).conflicts


def test_what_no_object_expresses_stays(site: Site) -> None:
    site.edit("    balance roundrobin\n", "    # why\n    balance roundrobin\n    unheard of\n")
    site.apply("a", SHOP.replace("roundrobin", "source").replace("weight 5", "weight 6"))
    assert "    # why\n    balance source\n    unheard of\n" in site.document.text and "weight 6" in site.document.text


def test_a_rename_and_defaults() -> None:
    site = Site()
    site.apply("a", "defaults own\n    mode tcp\n" + SHOP.replace("from base", "from own"))
    site.apply("a", "defaults mine\n    mode tcp\n" + SHOP.replace("from base", "from mine").replace("backend shop", "backend store"))
    assert "defaults mine" in site.document.text and "backend store from mine" in site.document.text
    assert "own" not in site.document.text and "shop" not in site.document.text


# -- the law


def values(document: Document) -> dict[tuple[str, str], Any]:
    """Return every member of every part of all proxies."""
    resource, found = EDITOR.resources["backends"], {}
    for name, _ in document.of_kind("backend"):
        parts = parts_of(EDITOR, resource, EDITOR.get_object(document, resource, None, name, full=True))
        for part, members in parts.items():
            object_ = part_name(EDITOR, resource, name, part)
            found |= {(object_, member): value for member, value in {ITSELF: "", **members}.items()}
    return found


def declaration(chance: random.Random) -> str:
    text = ""
    for backend in chance.sample("pqr", chance.randint(0, 3)):
        text += f"backend {backend} from base\n"
        text += chance.choice(["", "    balance source\n", "    balance roundrobin\n"])
        text += chance.choice(["", "    http-request deny if { path /a }\n", "    acl x path /a\n"])
        for server in chance.sample("stu", chance.randint(0, 3)):
            text += f"    server {server} 127.0.0.1:1{chance.choice(['', ' weight 5', ' weight 6', ' check'])}\n"
    return text


def hand_edit(chance: random.Random, site: Site) -> None:
    lines = site.document.text.split("\n")
    place = chance.randrange(7, len(lines))
    match chance.randrange(3):
        case 0 if lines[place].startswith("    server"):
            del lines[place]
        case 1:
            lines[place] = lines[place].replace("weight 5", "weight 77").replace("source", "leastconn")
        case _ if lines[place].startswith("backend"):
            lines.insert(place + 1, f"    server h{chance.randrange(3)} 127.0.0.1:7")
    text = "\n".join(lines)
    names = [line.split()[1] for line in lines if line.startswith("backend")]
    if len(set(names)) == len(names) and not any(f"server h{n}" in text and text.count(f"server h{n}") > 1 for n in range(3)):
        site.document = Document.parse(text)


@pytest.mark.parametrize("number", [75, pytest.param(1500, marks=pytest.mark.soak)])
@pytest.mark.parametrize("seed", range(2))
def test_what_others_own_stays(seed: int, number: int) -> None:
    chance, site, done = random.Random(seed), Site(), 0
    for step in range(number):
        owner = chance.choice(["one", "two", "three"])
        if chance.random() < 0.3:
            hand_edit(chance, site)
        before, owners, text = values(site.document), site.owners, declaration(chance)
        found = site.apply(owner, text)
        if found.conflicts:
            assert values(site.document) == before
            continue
        done += 1
        after = values(site.document)
        for other, claims in owners.claims.items():
            for object_, held in claims.items():
                for member in held if other != owner else ():
                    assert before.get((object_, member)) == after.get((object_, member)), (seed, step, other, object_, member)
        own, wanted = owners.claims_of(owner), values(Document.parse(text))
        for (object_, member), value in before.items():
            section = "/".join(object_.split("/")[:2])
            goes = section not in {each for each, _ in wanted} and ITSELF in own.get(object_, {})
            is_foreign = member not in own.get(object_, {}) and not (goes and member in (ITSELF, "from"))
            assert not is_foreign or after.get((object_, member)) == value, (seed, step, object_, member)
        assert all(after[each] == value for each, value in wanted.items()), (seed, step)
        assert site.plan(owner, text).document is site.document, "once more changes nothing"
    assert done > number / 5
