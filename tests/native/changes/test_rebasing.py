"""Operations that were made on one document, made on another: both changes are in the text, or what both have changed is named."""

import json
import random
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest

from haproxy_native.changes.operations import Create, Delete, Edit, Patch, PutDocument, PutText, Replace, ReplaceAll, apply_all
from haproxy_native.changes.rebasing import rebase_operations
from haproxy_native.editing.editor import Editor
from haproxy_native.editing.object_names import ObjectPlace, name_of
from haproxy_native.errors import Clash, Collided, NativeError
from haproxy_native.grammar.load import Grammar
from haproxy_native.planning.effects import effects
from haproxy_native.text import parts
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
TABLE = EDITOR.resources
APP, WEB = (TABLE["backends"], "app"), (TABLE["frontends"], "web")
DENY, SET = ({"type": "deny", "cond": "if", "cond_test": "static"}, {"type": "set-header", "hdr_name": "X-A", "hdr_format": "a"})


def rule(number: int) -> dict[str, Any]:
    return {"type": "set-header", "hdr_name": "X-B", "hdr_format": str(number)}


def of_rule(index: int | str = "") -> ObjectPlace:
    return ObjectPlace(TABLE["http_request_rules"], WEB, index)


def of_server(name: str = "") -> ObjectPlace:
    return ObjectPlace(TABLE["servers"], APP, name)


def changed(old: str, new: str, text: str = TEXT) -> Document:
    assert old in text
    return Document.parse(text.replace(old, new))


def put(document: Document) -> list[Edit]:
    return [PutText("", document)]


def rules(document: Document) -> list[dict[str, Any]]:
    return EDITOR.list_objects(document, TABLE["http_request_rules"], WEB)


def clashes(operations: Sequence[Edit], theirs: Document) -> list[Clash]:
    with pytest.raises(Collided) as raised:
        rebase_operations(operations, BASE, theirs)
    return list(raised.value.clashes)


# -- objects


def test_two_members_of_one_server() -> None:
    theirs = changed("weight 10", "weight 20")
    body = {"name": "web1", "address": "127.0.0.9", "port": 1, "weight": 10, "metadata": {"comment": "the first"}}
    wanted = theirs.text.replace("127.0.0.1:1 ", "127.0.0.9:1 ")
    assert rebase_operations([Replace(of_server("web1"), body)], BASE, theirs).text == wanted
    assert rebase_operations([Patch(of_server("web1"), {"address": "127.0.0.9"})], BASE, theirs).text == wanted
    assert rebase_operations(put(changed("127.0.0.1:1 ", "127.0.0.9:1 ")), BASE, theirs).text == wanted


def test_both_sides_of_a_member() -> None:
    theirs = changed("weight 10", "weight 20")
    for operations in ([Patch(of_server("web1"), {"weight": 30})], put(changed("weight 10", "weight 30"))):
        assert clashes(operations, theirs) == [Clash("backend/app/server/web1", "weight", 20, 30)]


def test_what_a_patch_names_has_to_be_as_it_was() -> None:
    theirs = changed("weight 10", "weight 20")
    assert clashes([Patch(of_server("web1"), {"weight": 10})], theirs) == [Clash("backend/app/server/web1", "weight", 20, 10)]


def test_all_that_is_contested_is_named() -> None:
    theirs = changed("weight 10", "weight 20", changed("  http-request set-header X-A a\n", "").text)
    operations = [Patch(of_server("web1"), {"weight": 30, "port": 9}), ReplaceAll(of_rule(), [DENY])]
    assert [(each.object, each.member) for each in clashes([*operations, Delete(of_server("web1"))], theirs)] == [
        ("backend/app/server/web1", "weight"),
        ("backend/app/server/web1", ""),
    ]


@pytest.mark.parametrize("turned", [False, True])
def test_an_object_that_goes_collides_with_what_changes_in_it(turned: bool) -> None:
    gone, weight = changed("  server web1 127.0.0.1:1 weight 10   # the first\n", ""), changed("weight 10", "weight 20")
    (clash,) = clashes(put(gone), weight) if turned else clashes([Patch(of_server("web1"), {"weight": 20})], gone)
    values = (clash.mine, clash.theirs) if turned else (clash.theirs, clash.mine)
    assert (clash.object, clash.member, values[0], values[1]["weight"]) == ("backend/app/server/web1", "", None, 20)


def test_a_section_that_goes_collides_with_what_is_added_to_it() -> None:
    gone, more = Document.parse(TEXT[: TEXT.index("backend other")]), changed("127.0.0.1:3\n", "127.0.0.1:3\n  server web9 127.0.0.1:9\n")
    other = ObjectPlace(TABLE["backends"], None, "other")
    for operations in ([Delete(other)], put(gone)):
        (clash,) = clashes(operations, more)
        assert (clash.object, clash.member, clash.mine, list(clash.theirs["servers"])) == ("backend/other", "", None, ["web1", "web9"])
    added = Create(ObjectPlace(TABLE["servers"], (TABLE["backends"], "other"), ""), {"name": "web9", "address": "127.0.0.1"})
    for operations in ([added], put(more)):
        assert [(each.object, each.theirs) for each in clashes(operations, gone)] == [("backend/other", None)]


def test_servers_added_at_one_place() -> None:
    end = "127.0.0.1:2\n"
    theirs, mine = (changed(end, f"{end}  server {name} 127.0.0.1:8\n") for name in "ab")
    for operations in ([Create(of_server(), {"name": "b", "address": "127.0.0.1", "port": 8})], put(mine)):
        assert rebase_operations(operations, BASE, theirs).text == theirs.text.replace(":8\n", ":8\n  server b 127.0.0.1:8\n")


# -- rows


def test_two_writers_each_add_a_rule() -> None:
    theirs = Create(of_rule(), rule(1)).apply(BASE)
    assert rules(rebase_operations([Create(of_rule(), rule(2))], BASE, theirs)) == [DENY, SET, rule(1), rule(2)]
    theirs = Create(of_rule(1), rule(1)).apply(BASE)
    assert rules(rebase_operations([Create(of_rule(1), rule(2))], BASE, theirs)) == [DENY, rule(1), rule(2), SET]


@pytest.mark.parametrize(("index", "wanted"), [(0, [rule(2), rule(1), SET]), (1, [rule(1), rule(2), SET]), (2, [rule(1), SET, rule(2)])])
def test_a_rule_goes_beside_the_neighbour_that_is_left(index: int, wanted: list[Any]) -> None:
    theirs = Replace(of_rule(0), rule(1)).apply(BASE)
    assert rules(rebase_operations([Create(of_rule(index), rule(2))], BASE, theirs)) == wanted


def test_a_rule_without_its_neighbours_has_no_place() -> None:
    theirs = ReplaceAll(of_rule(), [rule(1), rule(3)]).apply(BASE)
    (clash,) = clashes([Create(of_rule(1), rule(2))], theirs)
    assert (clash.object, clash.member, clash.theirs, clash.mine) == (
        "frontend/web",
        "http_request_rule_list",
        [rule(1), rule(3)],
        [DENY, rule(2), SET],
    )


def test_a_rule_is_found_where_it_stands_by_now() -> None:
    theirs = Create(of_rule(0), rule(1)).apply(BASE)
    assert rules(rebase_operations([Delete(of_rule(0))], BASE, theirs)) == [rule(1), SET]
    assert rules(rebase_operations([Patch(of_rule(1), {"hdr_format": "b"})], BASE, theirs)) == [rule(1), DENY, SET | {"hdr_format": "b"}]
    swapped = ReplaceAll(of_rule(), [SET, DENY]).apply(BASE)
    assert rules(rebase_operations([Replace(of_rule(0), rule(2))], BASE, swapped)) == [SET, rule(2)]


def test_a_rule_that_both_have_changed_is_contested() -> None:
    theirs = Replace(of_rule(1), rule(1)).apply(BASE)
    for operation in (Replace(of_rule(1), rule(2)), Delete(of_rule(1))):
        assert [each.member for each in clashes([operation], theirs)] == ["http_request_rule_list"]
    assert rebase_operations([Delete(of_rule(1))], BASE, Delete(of_rule(1)).apply(BASE)).text.count("http-request") == 1


def test_a_list_that_is_replaced_has_to_be_as_it_was() -> None:
    mine, theirs = ReplaceAll(of_rule(), [rule(1)]), Create(of_rule(), rule(2)).apply(BASE)
    assert [each.member for each in clashes([mine], theirs)] == ["http_request_rule_list"]
    assert rules(rebase_operations([mine], BASE, changed("weight 10", "weight 20"))) == [rule(1)]


def test_equal_rules_are_told_apart_by_their_place() -> None:
    twice = Create(of_rule(), DENY).apply(BASE)
    theirs = Create(of_rule(0), rule(1)).apply(twice)
    assert rules(rebase_operations([Delete(of_rule(2))], twice, theirs)) == [rule(1), DENY, SET]
    assert rules(rebase_operations([Delete(of_rule(0))], twice, theirs)) == [rule(1), SET, DENY]


# -- texts


def test_the_comments_of_both_stay() -> None:
    merged = rebase_operations(put(changed("# the first", "# the oldest")), BASE, changed("# the shop", "# our shop"))
    assert "# our shop" in merged.text
    assert "# the oldest" in merged.text
    below = changed("127.0.0.1:3\n", "127.0.0.1:3\n# ours\n")
    assert rebase_operations(put(below), BASE, changed("127.0.0.1:3", "127.0.0.1:4")).text.endswith("server web1 127.0.0.1:4\n# ours\n")


def test_a_comment_that_both_have_changed() -> None:
    (clash,) = clashes(put(changed("# the shop", "# our shop")), changed("# the shop", "# your shop"))
    assert (clash.object, clash.member) == ("backend/app", "lines")


def test_what_no_object_expresses_needs_an_unchanged_section() -> None:
    mine = changed("  server web2 127.0.0.1:2\n", "  .if defined(X)\n  server web2 127.0.0.1:2\n  .endif\n")
    assert rebase_operations(put(mine), BASE, changed("127.0.0.1:3", "127.0.0.1:4")).text == mine.text.replace("127.0.0.1:3", "127.0.0.1:4")
    (clash,) = clashes(put(mine), changed("weight 10", "weight 20"))
    assert (clash.object, clash.member, clash.mine) == ("backend/app", "lines", [".if defined(X)", ".endif"])
    assert clash.theirs == ["server web1 127.0.0.1:1 weight 20   # the first"]


def test_sections_that_come_go_and_move() -> None:
    theirs = changed("backend other", "backend theirs\n\nbackend other")
    mine = changed("backend other", "backend mine\n\nbackend other")
    assert [section.name for section in rebase_operations(put(mine), BASE, theirs).sections][-4:] == ["app", "theirs", "mine", "other"]
    gone = Document.parse(TEXT[: TEXT.index("backend other")])
    assert [section.name for section in rebase_operations(put(gone), BASE, theirs).sections][-2:] == ["app", "theirs"]
    turned = Document(BASE.preamble, [*BASE.sections[:-2], *reversed(BASE.sections[-2:])])
    assert [section.name for section in rebase_operations(put(turned), BASE, theirs).sections][-3:] == ["other", "app", "theirs"]


def test_a_section_that_moves_to_another_file() -> None:
    base, theirs = (parts.with_parts(BASE, {"": BASE, "b.cfg": Document.parse(f"backend b\n  retries {number}\n")}) for number in (1, 2))
    alone = Document(BASE.preamble, [section for section in BASE.sections if section.name != "other"])
    moved = Document.parse("backend b\n  retries 1\n\nbackend other from base\n  server web1 127.0.0.1:3\n")
    merged = rebase_operations([PutDocument(parts.with_parts(base, {"": alone, "b.cfg": moved}))], base, theirs)
    assert merged.text == parts.with_parts(base, {"": alone, "b.cfg": Document.parse(moved.text.replace("1\n\n", "2\n\n"))}).text
    assert [section.file for section in merged.sections] == [section.file for section in Document.parse(merged.text).sections]


@pytest.mark.parametrize(("header", "name"), [("defaults", "unnamed_defaults_1"), ("defaults a", "a")])
def test_a_section_that_has_another_number(header: str, name: str) -> None:
    base = Document.parse(f"{header}\n  mode http\nbackend b\n")
    theirs = Document.parse(f"{header}\n  mode tcp\n{base.text}")
    with pytest.raises(Collided, match=f"lines of defaults/{name}"):
        rebase_operations([Patch(ObjectPlace(TABLE["defaults"], None, name), {"queue_timeout": 1000})], base, theirs)


def test_times_in_another_unit() -> None:
    editor, theirs = Editor(Grammar(time_suffix="none")), changed("weight 10", "weight 20")
    merged = rebase_operations([Patch(of_server("web1"), {"inter": 2000}, editor=editor)], BASE, theirs)
    assert "127.0.0.1:1 inter 2000 weight 20 " in merged.text


def test_a_name_that_two_sections_have() -> None:
    base = Document.parse(TEXT + "\nbackend app from base\n  server web9 127.0.0.1:9\n")
    mine, theirs = (Document.parse(base.text.replace(*change)) for change in ((":9", ":8"), ("weight 10", "weight 20")))
    with pytest.raises(Collided, match="lines of backend/app"):
        rebase_operations(put(mine), base, theirs)
    other = Document.parse(base.text.replace("maxconn 100", "maxconn 200"))
    assert rebase_operations(put(mine), base, other).text == other.text.replace(":9", ":8")


# -- the law

NAMES, HOSTS = ("app", "other", "new", "newer"), ("web1", "web2", "web3", "web4")


def operation_of(chance: random.Random, document: Document) -> Edit:
    """One call of the API."""
    kind = chance.choice(["server", "server", "server", "backend", "backend", "rule", "rule", "rule", "global", "defaults", "text"])
    name, verb = chance.choice(NAMES), chance.choice(["create", "replace", "patch", "delete"])
    host = ObjectPlace(TABLE["servers"], (TABLE["backends"], name), chance.choice(HOSTS))
    server = {"name": host.key, "address": f"127.0.0.{chance.randint(1, 9)}"}
    server |= {key: value for key, value in (("port", 80), ("weight", chance.randint(1, 3)), ("check", "enabled")) if chance.random() < 0.5}
    backend = ObjectPlace(TABLE["backends"], None, name)
    body = {"name": name, "from": "base", "mode": chance.choice(["http", "tcp"]), "retries": chance.randint(1, 3)}
    at, row = of_rule(chance.randint(0, 3)), rule(chance.randint(1, 5))
    match kind, verb:
        case "server", "create":
            return Create(chance.choice([replaced(host, ""), replaced(host, chance.randint(0, 2))]), server)
        case "server", "replace":
            return Replace(host, server)
        case "server", "patch":
            return Patch(host, {"weight": chance.randint(1, 3), "port": chance.choice([None, 81])})
        case "server", _:
            return Delete(host)
        case "backend", "create":
            return Create(replaced(backend, ""), {"name": name, "from": "base"})
        case "backend", "replace":
            return Replace(backend, body)
        case "backend", "patch":
            return Patch(backend, {"retries": chance.randint(1, 3)})
        case "backend", _:
            return Delete(backend)
        case "rule", "create":
            return Create(chance.choice([at, of_rule()]), row)
        case "rule", "replace":
            return Replace(at, row)
        case "rule", "patch":
            return Patch(at, {"cond": "if", "cond_test": "static"})
        case "rule", _:
            return Delete(at)
        case "global", _:
            options = {"maxconn": chance.randint(1, 3)}
            return Replace(ObjectPlace(TABLE["global"], None, ""), {"performance_options": options, "daemon": chance.random() < 0.5})
        case "defaults", _:
            timeouts = {"client_timeout": chance.randint(1, 3) * 1000, "queue_timeout": 1000}
            return Replace(ObjectPlace(TABLE["defaults"], None, "base"), {"name": "base", "mode": "http"} | timeouts)
    return PutText("", Document.parse(operation_of(chance, document).apply(document).text))


def replaced(place: ObjectPlace, key: str | int) -> ObjectPlace:
    return ObjectPlace(place.resource, place.parent, key)


def made(chance: random.Random) -> list[Edit]:
    operations, document = list[Edit](), BASE
    while len(operations) < chance.randint(1, 5):
        with suppress(NativeError):
            operation = operation_of(chance, document)
            document = operation.apply(document)
            operations.append(operation)
    return operations


def members(document: Document) -> dict[tuple[str, str], Any]:
    """Everything that is said, but rows, by object and member."""
    values: dict[tuple[str, str], Any] = {}
    for effect in effects(Document("", []), document):
        children = dict(TABLE.children(effect.place.resource.name))
        for member, value in ({effect.member: effect.new} if effect.member else effect.new).items():
            if member not in children:
                values[effect.object, member] = value
            elif isinstance(value, dict):
                for name, child in value.items():
                    place = ObjectPlace(children[member], (effect.place.resource, str(effect.place.key)), name)
                    values |= {(name_of(place), own): each for own, each in child.items()}
    return values


def objects(operations: Sequence[Edit]) -> set[str]:
    """What operations touch."""
    found, document = set[str](), BASE
    for operation in operations:
        after = operation.apply(document)
        place = getattr(operation, "place", None)
        found |= {effect.object for effect in effects(document, after)} | ({name_of(place)} if place else set())
        document = after
    return found


def is_in(one: str, other: str) -> bool:
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")


def counted(document: Document) -> Counter[str]:
    return Counter(json.dumps(row, sort_keys=True) for row in rules(document))


def check(seed: int) -> str:
    chance = random.Random(seed)
    mine, theirs = made(chance), made(chance)
    ours, others = apply_all(mine, BASE), apply_all(theirs, BASE)
    assert rebase_operations(mine, BASE, Document.parse(TEXT)).text == ours.text, "on the same document it is `apply`"
    assert rebase_operations(mine, BASE, Document.parse(ours.text)).text == ours.text, "what has been made already is left out"
    try:
        document = rebase_operations(mine, BASE, Document.parse(others.text))
    except Collided as error:
        for clash in error.clashes:
            for side in (mine, theirs):
                assert any(is_in(clash.object, each) for each in objects(side)), (seed, clash)
        return "collided"
    before, here, there, now = (members(each) for each in (BASE, ours, others, document))
    for key in {**before, **here, **there, **now}:
        sides = [side.get(key) for side in (here, there) if side.get(key) != before.get(key)] or [before.get(key)]
        assert [now.get(key)] * len(sides) == sides, (seed, key)
    before, here, there, now = (counted(each) for each in (BASE, ours, others, document))
    for row in {**before, **here, **there, **now}:
        one, other = here[row] - before[row], there[row] - before[row]
        both = {one + other} | ({one, other} if one * other > 0 else set())
        assert now[row] - before[row] in both, (seed, row)
    return "rebased"


def test_both_changes_are_in_the_text_or_what_both_touch_is_named() -> None:
    # The last one sets a member of a server, deletes the server and creates it again.
    outcomes = Counter(check(seed) for seed in (*range(100), 5132))
    assert min(outcomes["rebased"], outcomes["collided"]) > 20, outcomes


@pytest.mark.soak
def test_the_same_of_many_more() -> None:
    for seed in (*range(100, 300), *range(1_000, 30_000)):
        check(seed)
