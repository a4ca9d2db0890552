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
    assert output.objects_table("server", []) == ""
    assert output.objects_table("any", ["a", "b"]) == "ANY\na\nb\n"
    rows = [{"b": {}, "x": 1, "name": "n"}, {"y": 2}]
    assert output.objects_table("thing", rows) == "NAME  X  Y\nn     1  -\n-     -  2\n"
    assert output.objects_table("rule", [{"type": "deny"}], "") == "INDEX  TYPE\n0      deny\n"


def test_one_object() -> None:
    assert output.object_text(OBJECT) == SHOWN


def test_colours_add_no_width() -> None:
    plain, coloured = (output.table(["state"], [["up"], ["down"]], colours=colours) for colours in (False, True))
    assert f"{ESCAPE}[32mup{ESCAPE}[0m" in coloured and "\x1b" not in plain
    for colour in ("32", "31", "33", "1", "0"):
        coloured = coloured.replace(f"{ESCAPE}[{colour}m", "")
    assert [line.rstrip() for line in coloured.splitlines()] == plain.splitlines()


def test_words_of_the_contract_are_shown_as_what_they_mean() -> None:
    rows = [{"id": "1", "outcome": "taken_back", "status": "in_progress"}, {"id": "2", "outcome": "written", "status": "returned"}]
    assert (
        output.objects_table("thing", rows, "id") == "ID  OUTCOME      STATUS\n1   rolled back  in progress\n2   file only    rolled back\n"
    )
    assert output.object_text({"outcome": "written", "name": "written"}) == "outcome  file only\nname     written\n"
    assert output.object_text({"changes": [{"version": 3, "outcome": "taken_back"}]}) == "changes\n  0  version=3 outcome=rolled back\n"


def test_reasons_for_a_reload() -> None:
    reason = {"keyword": "bind", "reason": "it is new", "section": "frontend site", "line": 3, "file": "b.cfg", "remedy": "omit it"}
    assert output.reason_line(reason) == "bind: it is new (b.cfg, frontend site, line 3); to avoid it: omit it"
    assert output.reason_line({"reason": "it is new", "section": "", "line": 0, "keyword": ""}) == "it is new"
    assert output.effect_lines({"reload": True, "reasons": [reason]}) == [f"reload: {output.reason_line(reason)}"]


def test_a_text_of_one_object_is_shown_as_a_whole() -> None:
    assert output.object_text({"summary": "x" * 100}) == f"summary  {'x' * 100}\n"
