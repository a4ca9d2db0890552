"""Where marks stand in conditions."""

import pytest

from haproxy_native.shadow.rewrite import STREAM, Mark, add_marks


def shown(line: str, start: int) -> tuple[str, list[Mark]]:
    """The line with its marks as `<n>` where they hold and `<!n>` where they do not, and the marks."""
    marks: list[Mark] = []

    def new(mark: Mark) -> str:
        marks.append(mark)
        return f"m{len(marks) - 1}"

    text = " ".join(add_marks(line.split(), start, STREAM, new))
    for number in range(len(marks)):
        head = f"{{ var({STREAM},),concat(.m{number}),set-var({STREAM})"
        text = text.replace(f"{head} -m found }}", f"<{number}>").replace(f"{head} -m len 0 }}", f"<!{number}>")
    return text, marks


@pytest.mark.parametrize(
    ("line", "start", "expected", "terms"),
    [
        ("http-request deny", 2, "http-request deny if <0>", [""]),
        ("http-request deny if a", 2, "http-request deny if a <0> <1>", ["a", ""]),
        ("http-request deny if a !b", 2, "http-request deny if a <0> !b <1> <2>", ["a", "!b", ""]),
        ("use_backend x if ! a or { path /b }", 1, "use_backend x if ! a <0> <1> || { path /b } <2> <3>", ["! a", "", "{ path /b }", ""]),
        ("use_backend if if a", 2, "use_backend if if a <0> <1>", ["a", ""]),
        ("http-request deny unless a || !{ src 1.1.1.1 }", 2, "http-request deny unless a <0> || !{ src 1.1.1.1 } <1> || <!2>", None),
        ("http-request set-var(txn.a) str(if) if { path /if }", 2, "http-request set-var(txn.a) str(if) if { path /if } <0> <1>", None),
    ],
)
def test_marks(line: str, start: int, expected: str, terms: list[str] | None) -> None:
    text, marks = shown(line, start)
    assert text == expected
    assert terms is None or [mark.term for mark in marks] == terms


def test_a_rule_applies_at_the_end_of_each_way_to_its_condition() -> None:
    _, marks = shown("http-request deny if a b || c", 2)
    assert [not mark.term for mark in marks] == [False, False, True, False, True]
