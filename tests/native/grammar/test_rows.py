"""Lists of lines: what becomes another list, and where comments of people are afterwards."""

import random
import re
from typing import Any

import pytest

from haproxy_native.grammar.load import grammar
from haproxy_native.grammar.rows import canonical, change_rows
from haproxy_native.grammar.section_shape import apply_edits
from haproxy_native.text.section import CONDITIONALS, Section

RULE = grammar().line("http_request_rule")
Row = dict[str, Any]


def rows(section: Section) -> list[tuple[int, Row]]:
    found = [(place, RULE.read(line)) for place, line in enumerate(section.lines) if line.words[:1] == ("http-request",)]
    return [(place, row) for place, row in found if row]


def rule(text: str) -> Row:
    (found,) = rows(Section("backend", "b", f"backend b\n  http-request {text}\n"))
    return found[1]


def edited(text: str, wanted: list[Row]) -> Section:
    section = Section("backend", "b", text)
    lines = [(place, section.lines[place]) for place, _ in rows(section)]
    return apply_edits(section, change_rows(RULE, lines, wanted, section))


def short(text: str) -> str:
    return "".join(line.strip().replace("http-request ", "") + "\n" for line in text.splitlines()[1:])


def long(text: str) -> str:
    lines = [line if line[:1] in "#." else f"http-request {line}" for line in text.splitlines()]
    return "backend b\n" + "".join(f"  {line}\n" for line in lines)


def test_the_order_of_members_makes_no_difference() -> None:
    assert canonical({"a": 1, "b": 2}) == canonical({"b": 2, "a": 1})
    assert canonical([1, 2]) != canonical([2, 1])


IF, END = ".if X\n", ".endif\n"


@pytest.mark.parametrize(
    ("before", "wanted", "after"),
    [
        pytest.param("deny if x # why\n", ["allow", "deny if x y"], "allow\ndeny if x y # why\n", id="the likest of another length"),
        pytest.param("deny if x # why\nallow\n", ["deny if x y"], "deny if x y # why\n", id="the likest of fewer"),
        pytest.param("deny if x # why\n", ["allow"], "allow # why\n", id="one for one"),
        pytest.param("deny if x # a\nallow # b\n", ["allow", "deny if x"], "allow # b\ndeny if x # a\n", id="moved"),
        pytest.param("deny if x # a\nallow # b\n", ["allow", "deny if x y"], "allow # b\ndeny if x y # a\n", id="moved and edited"),
        pytest.param(
            "deny if x # a\ntarpit # b\nallow # c\n",
            ["reject", "tarpit", "deny if x"],
            "reject\ntarpit # b\ndeny if x # a\n",
            id="one whose line is wanted elsewhere",
        ),
        pytest.param("# above\nallow # b\n", ["deny", "allow"], "deny\n# above\nallow # b\n", id="first, above the comment"),
        pytest.param("deny\n# above\nallow\n", ["deny", "tarpit", "allow"], "deny\ntarpit\n# above\nallow\n", id="between"),
        pytest.param("deny\n# above\nallow\n", ["allow", "deny"], "# above\nallow\ndeny\n", id="moved before one"),
        pytest.param("# above\ndeny\nallow\nallow if x\n", ["allow", "allow if x", "deny"], "allow\nallow if x\n# above\ndeny\n",
                     id="moved with what is above"),
        pytest.param(f"{IF}allow\n{END}", ["deny", "allow"], f"deny\n{IF}allow\n{END}", id="before a block"),
        pytest.param(f"# on\n{IF}# why\nallow\n{END}", ["deny", "allow"], f"deny\n# on\n{IF}# why\nallow\n{END}", id="and its comment"),
        pytest.param(f"{IF}allow\n{END}", ["allow", "deny"], f"{IF}allow\n{END}deny\n", id="behind a block"),
        pytest.param(f"{IF}allow\n{END}tarpit\n", ["allow", "deny", "tarpit"], f"{IF}allow\n{END}deny\ntarpit\n", id="between blocks"),
        pytest.param(f"{IF}allow\ntarpit\n{END}", ["allow", "deny", "tarpit"], f"{IF}allow\ndeny\ntarpit\n{END}", id="within a block"),
    ],
)  # fmt: skip
def test_comments_stay_with_what_they_comment(before: str, wanted: list[str], after: str) -> None:
    assert short(edited(long(before), [rule(each) for each in wanted]).text) == after


def test_shown_metadata_that_is_sent_back_tells_whose_it_is() -> None:
    """A comment is shown as metadata; only what was written as metadata goes without it."""
    text = long('deny if x # why\nallow if z # {"owner":"x"}\n')
    sent = [rule("allow"), {**rule("deny if not-x and-something-else"), "metadata": {"comment": "why"}}, rule("allow if z")]
    assert short(edited(text, sent).text) == "allow\ndeny if not-x and-something-else # why\nallow if z\n"


@pytest.mark.parametrize("kinds", [pytest.param(3, marks=pytest.mark.soak), 10**9])
def test_many_take_bounded_time(kinds: int) -> None:
    chance = random.Random(2)
    first, second = ([rule(f"deny if x{chance.randrange(kinds)}") for _ in range(1100)] for _ in "ab")
    text = long("".join(f"deny if {each['cond_test']}\n" for each in first))
    assert [row for _, row in rows(edited(text, second))] == second


def decorated(chance: random.Random) -> tuple[str, list[str]]:
    """A list with comments above and behind lines, and blocks; and its elements."""
    names = [f"deny if a{number} b{chance.randrange(3)}" for number in range(chance.randrange(1, 8))]
    lines: list[str] = []
    inside = 0
    for number, name in enumerate(names):
        if inside and chance.random() < 0.4:
            lines.append(chance.choice([".else", ".endif"]))
            inside -= lines[-1] == ".endif"
        if not inside and chance.random() < 0.3:
            inside += 1
            lines.append(".if X")
        lines += [f"# above {number}"] * (chance.random() < 0.3) + [name + f" # behind {number}" * (chance.random() < 0.5)]
    return "\n".join([*lines, *[".endif"] * inside, ""]), names


def wanted_of(names: list[str], chance: random.Random) -> list[str]:
    """The elements in another order, some without, some changed, some new."""
    wanted = list(names)
    for number in range(chance.randrange(1, 5)):
        what, place = chance.choice(["new", "delete", "change", "move"]), chance.randrange(len(wanted) + 1)
        if what == "new":
            wanted.insert(place, f"allow if new{number}")
        elif place < len(wanted):
            row = wanted.pop(place)
            if what != "delete":
                wanted.insert(place if what == "change" else chance.randrange(len(wanted) + 1), row + " c" * (what == "change"))
    return wanted


def comments(text: str) -> dict[str, tuple[list[str], str]]:
    """Of each element the comments above and behind it."""
    found: dict[str, tuple[list[str], str]] = {}
    above: list[str] = []
    for line in text.splitlines():
        element, _, behind = line.partition(" # ")
        if line.startswith("#"):
            above.append(line)
            continue
        if not line.startswith("."):
            found[element] = above, behind
        above = []
    return found


@pytest.mark.parametrize("seed", [*range(100), *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(100, 300))])
def test_lists_by_chance(seed: int) -> None:
    """What is in both lists has its comments; no comment above a line and no conditional goes, and none comes."""
    chance = random.Random(seed)
    before, names = decorated(chance)
    wanted = wanted_of(names, chance)
    new = edited(long(before), [rule(each) for each in wanted])
    after = short(new.text)
    assert [{**row, "metadata": None} for _, row in rows(new)] == [{**rule(each), "metadata": None} for each in wanted]
    old_comments, new_comments = comments(before), comments(after)
    for name in set(names) & set(wanted):
        above, behind = old_comments[name]
        assert (new_comments[name][0][-len(above) or 99 :], new_comments[name][1]) == (above, behind), f"{name}\n{before}\n{after}"
    for kept in (re.compile(r"^# .*", re.MULTILINE), re.compile(rf"^(?:{'|'.join(map(re.escape, CONDITIONALS))})", re.MULTILINE)):
        assert sorted(kept.findall(after)) == sorted(kept.findall(before))
    gone = {old_comments[name][1] for name in set(names) - set(wanted)}
    assert all(new_comments[name][1] in gone | {""} for name in set(wanted) - set(names)), f"{before}\n{after}"
