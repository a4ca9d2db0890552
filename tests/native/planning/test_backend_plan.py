"""Backends that come and go: the commands, or the line for which HAProxy has to load the file."""

import sys
from typing import Any

import pytest

from haproxy_native.planning.plan import plan
from haproxy_native.runtime.capabilities import Capabilities
from haproxy_native.text.document import Document

COMMANDS = "set server|add server|del server|enable health|add backend|publish backend|unpublish backend|del backend|wait"
MODERN = Capabilities((3, 4), frozenset(COMMANDS.split("|")), "admin", None, frozenset({"mode", "guid"}))
BASE = """\
global
  daemon

defaults base
  mode http
  default-server weight 7

defaults unspoken
  timeout connect 5s

defaults spop from base
  mode spop

defaults guarded from base
  .if feature(LUA)
  retries 3
  .endif

frontend web from base
  bind :80
  use_backend %[path,map(routes.map)]

backend app from base
  server s1 192.0.2.1:80
"""
NEW = [
    ("backend b from base", ["add backend b from base"]),
    ("backend b from base\n  mode tcp", ["add backend b from base mode tcp"]),
    ("backend b from base\n  mode http", ["add backend b from base"]),
    ("backend b from unspoken", ["add backend b from unspoken mode tcp"]),
    ("backend b from base\n  guid some:thing", ["add backend b from base guid some:thing"]),
    ("backend b from unspoken\n  timeout connect 5s", ["add backend b from unspoken mode tcp"]),
    ("backend b from base\n  # only a word", ["add backend b from base"]),
    (
        "backend b from base\n  default-server check\n  server s 192.0.2.2:80\n  server t 192.0.2.3:80 disabled no-check",
        [
            "add backend b from base",
            "add server b/s 192.0.2.2:80 check weight 7",
            "enable health b/s",
            "set server b/s state ready",
            "add server b/t 192.0.2.3:80 weight 7",
        ],
    ),
]
RELOADS = [
    ("backend b from unspoken\n  timeout connect 5s\n  timeout server 5s", "timeout", "with timeout only"),
    ("backend b from base\n  server s 192.0.2.2:80\n  balance source\n  cookie S insert", "balance", "with balance, cookie only"),
    ("backend b from base\n  server-template t 2 192.0.2.2:80", "server-template", "with server-template only"),
    ("backend b from base\n  mode log", "mode", "in mode log"),
    ("backend b from spop", "backend", "in mode spop"),
    ("backend b from nowhere", "backend", "defaults nowhere is not loaded"),
    ("backend b from guarded", "backend", "in a conditional block"),
    ("backend b from base\n  .if feature(LUA)\n  server s 192.0.2.2:80\n  .endif", "backend", "in a conditional block"),
    ("backend web from base", "backend", "another section has the same name"),
    ('backend "${B}" from base', "backend", "no runtime command can express"),
    ("backend b from base\n  server s 192.0.2.2:80 minconn 1 maxconn 9", "backend", "fullconn"),
    ("backend b from base\n  server s 192.0.2.2:80 disabled agent-check", "server", "added in maintenance"),
]


def planned(old: str, new: str, capabilities: Capabilities = MODERN, stored: str = "") -> tuple[list[str], list[tuple[int, str, str]]]:
    """The commands, and line, keyword and words of each reason."""
    said = plan(Document.parse(old), Document.parse(new), capabilities, stored=lambda document, name: stored)
    return [each.text for each in said.commands] if said.is_live else [], [(each.line, each.keyword, each.why) for each in said.reasons]


@pytest.mark.parametrize(("section", "commands"), NEW)
def test_one_that_comes(section: str, commands: list[str]) -> None:
    assert planned(BASE, f"{BASE}\n{section}\n") == ([*commands, "publish backend b"], [])


@pytest.mark.parametrize(("section", "keyword", "why"), RELOADS)
def test_one_that_only_a_reload_brings(section: str, keyword: str, why: str) -> None:
    new = f"{BASE}\n{section}\n"
    commands, reasons = planned(BASE, new)
    assert not commands
    line, named, words = reasons[0]
    assert named == keyword and why in words
    assert new.splitlines()[line - 1].split()[0] == keyword


@pytest.mark.parametrize(
    ("lines", "is_advised"),
    [
        ("  balance source\n  cookie S insert", True),
        ("  option httpchk\n  http-request deny\n  acl own path /own", True),
        ("  stick-table type ip size 1k", False),
        ("  balance source\n  use-server s if TRUE", False),
    ],
)
def test_a_named_defaults_section_is_recommended_for_lines_that_it_may_hold(lines: str, is_advised: bool) -> None:
    [reason] = plan(Document.parse(BASE), Document.parse(f"{BASE}\nbackend b from base\n{lines}\n"), MODERN).reasons
    assert ("named defaults section" in reason.remedy) is is_advised


def test_several_are_published_when_all_are_there() -> None:
    commands, _ = planned(BASE, f"{BASE}\nbackend b from base\n\nbackend c from base\n")
    assert commands == ["add backend b from base", "add backend c from base", "publish backend b", "publish backend c"]


def test_the_implied_defaults_section() -> None:
    """The last one above; a nameless one, or none, has no name that a command could say."""
    assert planned("defaults d\n  mode http\n", "defaults d\n  mode http\nbackend b\n")[0] == ["add backend b from d", "publish backend b"]
    for head, why in (("defaults\n  mode http\n", "has no name"), ("global\n  daemon\n", "there is none above")):
        [(_, keyword, words)] = planned(head, f"{head}backend b\n")[1]
        assert keyword == "backend" and why in words


def test_the_steps_for_many_grow_with_their_number() -> None:
    """Each inherits by its place, not by name."""
    base = "defaults d\n  mode http\n"
    # The first plan reads the grammar.
    steps(base, 1)
    assert steps(base, 160) < 2.2 * steps(base, 80)


def steps(base: str, count: int) -> int:
    """Steps of Python in plans for new backends: calls, and lines that are entered."""
    old, new = Document.parse(base), Document.parse(base + "".join(f"backend b{number}\n" for number in range(count)))
    taken = 0

    def step(*_: object) -> Any:
        nonlocal taken
        taken += 1
        return step

    former = sys.gettrace()
    sys.settrace(step)
    try:
        result = plan(old, new, MODERN)
    finally:
        sys.settrace(former)
    assert len(result.commands) == 2 * count
    return taken


@pytest.mark.parametrize("lines", ["backend b from base\n  disabled\n", "backend b from off\n  server s1 192.0.2.1:80\n"])
def test_haproxy_takes_no_command_for_a_disabled_backend(lines: str) -> None:
    before = f"{BASE}\ndefaults off from base\n  disabled\n"
    assert "because of its setting disabled" in planned(f"{before}{lines}", before)[1][0][2]


def test_a_backend_inside_a_condition_that_another_section_opens() -> None:
    opened, closed = BASE.rstrip() + "\n.if feature(LUA)\n", "backend last from base\n.endif\n"
    assert "in a conditional block" in planned(opened + closed, f"{opened}backend b from base\n{closed}")[1][0][2]


def test_a_defaults_section_that_changes_as_well() -> None:
    changed = BASE.replace("weight 7", "weight 8")
    assert [keyword for _, keyword, _ in planned(BASE, f"{changed}\nbackend b from base\n")[1]] == ["default-server"]


GOING = "\nbackend b from base\n  server s 192.0.2.2:80\n  server-template t 2-3 192.0.2.3:80 disabled\n"


def test_one_that_goes() -> None:
    assert planned(BASE + GOING, BASE) == (
        [
            "show servers state b",
            "wait 1 be-removable b",
            "wait 1 srv-removable b/s",
            "wait 1 srv-removable b/t2",
            "wait 1 srv-removable b/t3",
            "unpublish backend b",
            "show stat b 6 -1",
            "set server b/s state maint",
            "set server b/t2 state maint",
            "set server b/t3 state maint",
            "del server b/s",
            "del server b/t2",
            "del server b/t3",
            "del backend b",
        ],
        [],
    )


KEPT = [
    (GOING + "  .if feature(LUA)\n  .endif\n", BASE, "was in a conditional block"),
    (GOING, BASE.replace("map(routes.map)", "map(routes.map,b)"), ""),
]


@pytest.mark.parametrize(("section", "after", "why"), KEPT)
def test_one_that_only_a_reload_takes_away(section: str, after: str, why: str) -> None:
    commands, reasons = planned(BASE + section, after)
    assert not commands
    assert why in reasons[-1][2]


def test_what_names_it() -> None:
    named = BASE.replace("map(routes.map)", "map(routes.map,b)")
    assert planned(named + GOING, named)[1] == [
        (0, "backend", "the section was removed, and use_backend in frontend web, line 21, names it")
    ]
    stored = planned(BASE + GOING, BASE, stored="/b in map routes.map names it")
    assert stored[1] == [(0, "backend", "the section was removed, and /b in map routes.map names it")]


def test_one_goes_and_another_comes() -> None:
    """The new one is seen when the former is gone for certain."""
    commands, _ = planned(BASE + GOING, BASE + GOING.replace("backend b", "backend c").replace("server-template t 2-3", "server t"))
    assert commands[0] == "add backend c from base"
    assert commands[-2:] == ["del backend b", "publish backend c"]


def test_before_haproxy_could() -> None:
    old = Capabilities((3, 2), MODERN.commands - {"add backend", "del backend"}, "admin")
    assert [words for _, _, words in planned(BASE, BASE + GOING, old)[1]] == [
        "the section is new, and this HAProxy cannot add backends in the running process"
    ]
    assert [words for _, _, words in planned(BASE + GOING, BASE, old)[1]] == [
        "the section was removed, and this HAProxy cannot delete backends in the running process"
    ]
