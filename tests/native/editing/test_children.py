"""Lines of one kind in a section: in and out by their position, and nothing else moves."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from haproxy_native.editing.children import ChildEditor
from haproxy_native.editing.resources import resources
from haproxy_native.errors import UnknownWords
from haproxy_native.grammar.load import grammar
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.section import Section
from tests.steps import is_linear, steps

TEXT = """\
backend app
    mode http   # plain
    # who may
    acl local src 127.0.0.1
    acl odd fancy-new-word(1) -z
    acl later path /x
    server s1 192.0.2.1:80   # first
"""
EDITOR = ChildEditor(grammar(), resources())
ACLS, RULES, SERVERS = (resources()[name] for name in ("acls", "http_request_rules", "servers"))
NEW = {"acl_name": "new", "criterion": "path", "value": "/new"}
LINE = "    acl new path /new\n"
LOCAL = "    acl local src 127.0.0.1\n"


def section(text: str = TEXT) -> Section:
    return Document.parse(text.encode()).sections[0]


@pytest.mark.parametrize(
    ("index", "above"),
    [(0, "    # who may\n"), (1, "    acl odd"), (2, "    acl later"), (3, "    server s1")],
)
def test_inserted_before_the_element_there(index: int, above: str) -> None:
    """In front of the comment that belongs to the first one."""
    assert EDITOR.insert(section(), "backends", ACLS, NEW, index).text == TEXT.replace(above, LINE + above, 1)


def test_the_first_of_a_kind_stands_behind_the_kinds_declared_before_it() -> None:
    body = {"type": "deny"}
    assert EDITOR.insert(section(), "backends", RULES, body, 0).text == TEXT + "    http-request deny\n"
    bare = "backend app\n    mode http\n    http-request deny\n"
    text = EDITOR.insert(section(bare), "backends", ACLS, NEW, 0).text
    assert text == bare.replace("    http-request", LINE + "    http-request")


@pytest.mark.parametrize("name", ["tcp_request_rules", "http_request_rules", "http_response_rules"])
def test_a_rule_does_not_go_behind_what_haproxy_looks_at_later(name: str) -> None:
    bare = "frontend f\n    mode http\n{}    # why\n    use_backend b if { path / }\n    default_backend b\n"
    body = {"type": "content", "action": "accept"} if name.startswith("tcp") else {"type": "deny"}
    found = EDITOR.insert(section(bare.replace("{}", "")), "frontends", resources()[name], body, 0)
    line = name.replace("_", "-", 1).removesuffix("_rules") + (" content accept" if name.startswith("tcp") else " deny")
    assert found.text == bare.replace("{}", f"    {line}\n")
    late = section(bare.replace("{}", "") + "    acl late src ::1\n")
    assert EDITOR.insert(late, "frontends", resources()[name], body, 0).text == late.text + f"    {line}\n", "it may refer to the ACL"


def test_objects_and_what_cannot_be_one() -> None:
    text = TEXT.replace("    acl later", "    acl\n    acl later")
    children = EDITOR.children(section(text), ACLS)
    assert children.places == [3, 4, 5, 6]
    assert children.unparsed == [2]
    assert [each["acl_name"] for each in children.readable] == ["local", "odd", "later"]
    assert EDITOR.children(one := section(text), ACLS) is EDITOR.children(one, ACLS)


def test_a_line_that_cannot_be_read_is_not_edited() -> None:
    with pytest.raises(UnknownWords, match="line 6 of backend app cannot be edited: it has unknown words: acl"):
        EDITOR.replace(section(TEXT.replace("    acl later", "    acl\n    acl later")), ACLS, {2: NEW})


def test_replaced_and_deleted() -> None:
    assert EDITOR.replace(section(), ACLS, {0: {**NEW, "acl_name": "local"}}).text == TEXT.replace("src 127.0.0.1", "path /new")
    body = {"name": "s1", "address": "192.0.2.1", "port": 81}
    kept = EDITOR.replace(section(), SERVERS, {0: {**body, "metadata": {"comment": "first"}}})
    assert kept.text == TEXT.replace(":80   # first", ":81   # first"), "gaps and comment stay"
    assert EDITOR.replace(section(), SERVERS, {0: body}).text == kept.text, "it is a person's"
    assert EDITOR.delete(section(), ACLS, 2).text == TEXT.replace("    acl later path /x\n", "")


def rows(*names: str) -> list[dict[str, Any]]:
    children = EDITOR.children(section(), ACLS).readable
    return [next((each for each in children if each["acl_name"] == name), NEW) for name in names]


@pytest.mark.parametrize(
    ("bodies", "text"),
    [
        (rows("local", "odd", "later"), TEXT),
        (rows("local", "odd", "later", "new"), TEXT.replace("    server", LINE + "    server")),
        (rows("local", "later"), TEXT.replace("    acl odd fancy-new-word(1) -z\n", "")),
        (rows("new"), None),
        ([], TEXT.replace(LOCAL, "").replace("    acl odd fancy-new-word(1) -z\n", "").replace("    acl later path /x\n", "")),
    ],
)
def test_a_whole_list(bodies: list[dict[str, Any]], text: str | None) -> None:
    changed = EDITOR.replace_all(section(), "backends", ACLS, bodies)
    assert EDITOR.children(changed, ACLS).readable == bodies
    if text is not None:
        assert changed.text == text


def test_what_cannot_be_read_outlives_a_whole_list() -> None:
    text = TEXT.replace("    acl later", "    acl\n    acl later")
    changed = EDITOR.replace_all(section(text), "backends", ACLS, rows("later"))
    assert [line.text.strip() for line in changed.lines if line.words[:1] == ("acl",)] == ["acl", "acl later path /x"]


def test_a_negated_option_is_no_log_target() -> None:
    """`no log` begins with the same word."""
    targets, text = resources()["log_targets"], "frontend f\n    no option logasap\n    log 192.0.2.1 local0\n    no log\n"
    children = EDITOR.children(section(text), targets)
    assert (children.places, children.unparsed) == ([2, 3], [])
    assert EDITOR.replace_all(section(text), "frontends", targets, []).text == "frontend f\n    no option logasap\n"


def servers(numbers: range, weight: int) -> dict[str, dict[str, Any]]:
    return {f"s{i}": {"name": f"s{i}", "address": "192.0.2.1", "port": 1 + i, "weight": weight} for i in numbers}


def test_many_are_replaced_in_steps_that_grow_with_their_number() -> None:
    """Half of them are there already."""

    def replace(count: int) -> Callable[[], object]:
        half = EDITOR.replace_by_name(section("backend app\n"), "backends", SERVERS, servers(range(count // 2), 1))
        bodies = servers(range(count), 2)
        assert len(EDITOR.children(EDITOR.replace_by_name(half, "backends", SERVERS, bodies), SERVERS).readable) == count
        return lambda: EDITOR.replace_by_name(half, "backends", SERVERS, bodies)

    assert is_linear(replace, 50)


def test_what_is_sent_back_costs_little_and_changes_nothing() -> None:
    bodies = servers(range(100), 1)
    empty = section("backend app\n")
    made = steps(lambda: EDITOR.replace_by_name(empty, "backends", SERVERS, bodies))
    there = EDITOR.replace_by_name(empty, "backends", SERVERS, bodies)
    sent_back = {each["name"]: each for each in EDITOR.children(there, SERVERS).readable}
    assert EDITOR.replace_by_name(there, "backends", SERVERS, sent_back) is there
    assert steps(lambda: EDITOR.replace_by_name(there, "backends", SERVERS, sent_back)) < made


@pytest.mark.parametrize("kinds", [1, pytest.param(2, marks=pytest.mark.soak), 10**9], ids=["all the same", "two kinds", "all different"])
def test_long_lists_are_compared_in_bounded_time(kinds: int) -> None:
    """What is equal keeps its line, with the comment of a person."""
    chance = random.Random(1)
    first, second = (
        [{"type": "deny", "cond": "if", "cond_test": f"{{ path /{chance.randrange(kinds)} }}"} for _ in range(1000)] for _ in "ab"
    )
    rules = EDITOR.replace_all(section("backend app\n"), "backends", RULES, first)
    other = [*second[:500], *first[50:700], *second[500:]]
    changed = EDITOR.replace_all(rules, "backends", RULES, other)
    assert EDITOR.children(changed, RULES).readable == other
    if kinds > 2:
        assert sum(line in set(rules.lines) for line in changed.lines[1:]) >= 650


def test_threads_that_read_one_section_see_all_of_it() -> None:
    seen: list[list[str]] = []

    class Interrupted(Line):
        """At which another thread takes its turn, once."""

        @property
        def words(self) -> tuple[str, ...]:
            if not seen:
                seen.append([])
                seen[0] += names()
            return super().words

    shared = Section("backend", "app", lines=[Line("backend app\n"), Line("  server a 1.1.1.1:1\n"), Interrupted("  server b 1.1.1.2:1\n")])

    def names() -> list[str]:
        return [each["name"] for each in EDITOR.children(shared, SERVERS).readable]

    assert (names(), seen) == (["a", "b"], [["a", "b"]])
