"""Two changes of one document become one text with the effects of both, or collide in what both have changed."""

import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress

import pytest

from haproxy_native.editing.editor import Editor
from haproxy_native.errors import Clash, Collided, Conflict, NativeError
from haproxy_native.planning.effects import Effect, effects
from haproxy_native.planning.three_way import merged_onto, unit_of
from haproxy_native.planning.touches import is_shown
from haproxy_native.text.document import Document

EDITOR = Editor()
TEXT = """\
# _version=1
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

# the shop
backend app from base
  server web1 127.0.0.1:1 weight 10   # the first
  server web2 127.0.0.1:2

backend other from base
  server web1 127.0.0.1:3
"""
BASE = Document.parse(TEXT)
Edit = Callable[[Document], Document]


def changed(old: str, new: str, text: str = TEXT) -> Document:
    assert old in text
    return Document.parse(text.replace(old, new))


def clashes(theirs: Document, mine: Document) -> list[Clash]:
    with pytest.raises(Collided) as raised:
        merged_onto(EDITOR, BASE, theirs, mine)
    return list(raised.value.clashes)


def test_two_members_of_one_line() -> None:
    theirs, mine = changed("weight 10", "weight 20"), changed("127.0.0.1:1 ", "127.0.0.9:1 ")
    assert merged_onto(EDITOR, BASE, theirs, mine).text == theirs.text.replace("127.0.0.1:1 ", "127.0.0.9:1 ")


def test_servers_added_at_one_place() -> None:
    end = "127.0.0.1:2\n"
    merged = merged_onto(EDITOR, BASE, changed(end, f"{end}  server a 127.0.0.1:8\n"), changed(end, f"{end}  server b 127.0.0.1:9\n"))
    assert [each["name"] for each in EDITOR.list_objects(merged, EDITOR.resources["servers"], (EDITOR.resources["backends"], "app"))] == [
        "web1",
        "web2",
        *sorted(("a", "b"), key=merged.text.index),
    ]


def test_the_same_change_is_no_collision() -> None:
    theirs = changed("weight 10", "weight 20")
    assert merged_onto(EDITOR, BASE, theirs, theirs).text == theirs.text


def test_the_comments_of_both_stay() -> None:
    merged = merged_onto(EDITOR, BASE, changed("# the shop", "# our shop"), changed("# the first", "# the oldest"))
    assert "# our shop" in merged.text
    assert "# the oldest" in merged.text


def test_lines_that_nothing_but_a_text_shows_collide() -> None:
    with pytest.raises(Conflict, match="have no members"):
        merged_onto(EDITOR, BASE, changed("# the shop", "# our shop"), changed("# the shop", "# your shop"))


def test_both_sides_of_a_member() -> None:
    assert clashes(changed("weight 10", "weight 20"), changed("weight 10", "weight 30")) == [
        Clash("backend/app/server/web1", "weight", 20, 30)
    ]


def test_rules_are_one_member() -> None:
    theirs, mine = changed("  http-request deny", "  http-request return if static\n  http-request deny"), changed("X-A a", "X-A b")
    (clash,) = clashes(theirs, mine)
    assert (clash.object, clash.member, len(clash.theirs), len(clash.mine)) == ("frontend/web", "http_request_rule_list", 3, 2)


@pytest.mark.parametrize("turned", [False, True])
def test_an_object_that_goes_collides_with_what_changes_in_it(turned: bool) -> None:
    gone, weight = changed("  server web1 127.0.0.1:1 weight 10   # the first\n", ""), changed("weight 10", "weight 20")
    (clash,) = clashes(*((weight, gone) if turned else (gone, weight)))
    values = (clash.mine, clash.theirs) if turned else (clash.theirs, clash.mine)
    assert (clash.object, clash.member, values[0], values[1]["weight"]) == ("backend/app/server/web1", "", None, 20)


def test_a_section_that_goes_collides_with_what_is_added_to_it() -> None:
    gone = Document.parse(TEXT[: TEXT.index("backend other")])
    (clash,) = clashes(changed("127.0.0.1:3\n", "127.0.0.1:3\n  server web9 127.0.0.1:9\n"), gone)
    assert (clash.object, clash.member, clash.mine, list(clash.theirs["servers"])) == ("backend/other", "", None, ["web1", "web9"])


# -- the law

SECTIONS = {"backends": ("app", "other", "new", "newer"), "frontends": ("web",)}


def edit_of(chance: random.Random) -> Edit:
    """One call of the API."""
    resources = EDITOR.resources
    kind = chance.choice(["server", "server", "server", "backend", "backend", "rule", "global", "defaults"])
    name = chance.choice(SECTIONS["backends"])
    parent = (resources["backends"], name)
    server = {"name": chance.choice(["web1", "web2", "web3", "web4"]), "address": f"127.0.0.{chance.randint(1, 9)}"}
    server |= {key: value for key, value in (("port", 80), ("weight", chance.randint(1, 3)), ("check", "enabled")) if chance.random() < 0.5}
    match kind, chance.choice(["create", "replace", "delete"]):
        case "server", "create":
            return lambda document: EDITOR.create(document, resources["servers"], parent, server)
        case "server", "replace":
            return lambda document: EDITOR.replace(document, resources["servers"], parent, server["name"], server)
        case "server", _:
            return lambda document: EDITOR.delete(document, resources["servers"], parent, server["name"])
        case "backend", "create":
            return lambda document: EDITOR.create(document, resources["backends"], None, {"name": name, "from": "base"})
        case "backend", "replace":
            body = {"name": name, "from": "base", "mode": chance.choice(["http", "tcp"]), "retries": chance.randint(1, 3)}
            return lambda document: EDITOR.replace(document, resources["backends"], None, name, body)
        case "backend", _:
            return lambda document: EDITOR.delete(document, resources["backends"], None, name)
        case "rule", _:
            rule = {"type": "set-header", "hdr_name": "X-B", "hdr_format": str(chance.randint(1, 9))}
            rules = resources["http_request_rules"], (resources["frontends"], "web")
            return lambda document: EDITOR.create(document, *rules, rule, index=chance.randint(0, 2))
        case "global", _:
            maxconn = chance.randint(1, 3)
            return lambda document: EDITOR.replace(
                document, resources["global"], None, "", {"performance_options": {"maxconn": maxconn}, "daemon": chance.random() < 0.5}
            )
        case _:
            body = {"name": "base", "mode": "http", "client_timeout": chance.randint(1, 3) * 1000, "queue_timeout": 1000}
            return lambda document: EDITOR.replace(document, resources["defaults"], None, "base", body)


def made(chance: random.Random) -> Document:
    document = BASE
    for _ in range(chance.randint(1, 4)):
        with suppress(NativeError):
            document = edit_of(chance)(document)
    return document


def counted(found: Sequence[Effect]) -> Counter[str]:
    return Counter(json.dumps(each.as_dict(), sort_keys=True) for each in found)


def collide(ours: Sequence[Effect], others: Sequence[Effect]) -> bool:
    """Said in another way than the product does: pair by pair, with the same of both left out."""
    same = counted(ours) & counted(others)
    mine, theirs = ([(unit_of(EDITOR, each), each) for each in found] for found in (ours, others))
    for one, effect in mine:
        for other, opposed in theirs:
            within = f"{one[0]}/".startswith(f"{other[0]}/") or f"{other[0]}/".startswith(f"{one[0]}/")
            whole = not opposed.member and other[1] == "" and f"{one[0]}/".startswith(f"{other[0]}/")
            whole = whole or (one[1] == "" and f"{other[0]}/".startswith(f"{one[0]}/"))
            if within and (one == other or whole):
                pair = [json.dumps(each.as_dict(), sort_keys=True) for each in (effect, opposed)]
                is_list = effect.place.resource.kind == "indexed"
                if is_list and counted([each for unit, each in mine if unit == one]) == counted([e for u, e in theirs if u == one]):
                    continue
                if is_list or pair[0] != pair[1] or pair[0] not in same:
                    return True
    return False


def check(seed: int) -> str:
    chance = random.Random(seed)
    theirs, mine = made(chance), made(chance)
    ours, others = effects(EDITOR, BASE, mine), effects(EDITOR, BASE, theirs)
    if collide(ours, others):
        with pytest.raises(Collided):
            merged_onto(EDITOR, BASE, theirs, mine)
        return "collided"
    try:
        merged = merged_onto(EDITOR, BASE, theirs, mine)
    except Conflict:
        # A section that was deleted and created again stands at the end, and no member says so.
        assert not is_shown(EDITOR, BASE, mine, ours), seed
        return "moved"
    assert counted(effects(EDITOR, BASE, merged)) == counted(ours) | counted(others), seed
    return "merged"


def test_what_two_changes_do_apart_the_merged_text_does_and_what_collides_is_refused() -> None:
    outcomes = Counter(check(seed) for seed in range(400))
    assert min(outcomes["merged"], outcomes["collided"]) > 60, outcomes


@pytest.mark.soak
def test_the_same_of_many_more() -> None:
    for seed in range(1_000, 30_000):
        check(seed)
