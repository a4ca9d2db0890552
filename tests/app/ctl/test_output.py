"""Tables as text."""

from dataplaneapi.ctl import output
from dataplaneapi.ctl.output import ESCAPE

OBJECT = {"name": "a", "long_member": 1, "maps": {"x": {"b": 1}}, "text": "one\ntwo\n", "list": ["a", "b"]}
SHOWN = """\
name         a
long_member  1
maps
  x  b=1
text         one
             two
list         a, b
"""


def test_cells() -> None:
    shown = [
        output.cell(value) for value in (None, True, False, [], [1, 2], [1, 2, 3], {"a": 1, "b": [2]}, {"algorithm": "rr"}, "a\n b", 0)
    ]
    assert shown == ["-", "yes", "no", "-", "1, 2", "1 and 2 more", "a=1 b=2", "rr", "a b", "0"]
    assert len(output.cell("x" * 100)) == output.LONGEST_CELL


def test_columns_are_as_wide_as_what_stands_in_them() -> None:
    assert output.table(["name", "v_x"], [["a", 1], ["longer", None]]) == "NAME    V X\na       1\nlonger  -\n"


def test_lists_of_objects() -> None:
    assert output.of_objects("server", []) == ""
    assert output.of_objects("any", ["a", "b"]) == "ANY\na\nb\n"
    rows = [{"b": {}, "x": 1, "name": "n"}, {"y": 2}]
    assert output.of_objects("thing", rows) == "NAME  X  Y\nn     1  -\n-     -  2\n"
    assert output.of_objects("rule", [{"type": "deny"}], "") == "INDEX  TYPE\n0      deny\n"


def test_one_object() -> None:
    assert output.of_one(OBJECT) == SHOWN


def test_colours_add_no_width() -> None:
    plain, coloured = (output.table(["state"], [["up"], ["down"]], colours=colours) for colours in (False, True))
    assert f"{ESCAPE}[32mup{ESCAPE}[0m" in coloured and "\x1b" not in plain
    for colour in ("32", "31", "33", "1", "0"):
        coloured = coloured.replace(f"{ESCAPE}[{colour}m", "")
    assert [line.rstrip() for line in coloured.splitlines()] == plain.splitlines()
