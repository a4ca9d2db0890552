"""CSV in, JSON out, cell by cell."""

import json

import pytest

from native.runtime import statistics

HEADER = "# pxname,svname,scur,status,type,addr,last_chk,new_in_9,lastsess,\n"
NUMBERS = {"scur": True, "status": False, "addr": False, "last_chk": False, "lastsess": True}


def rows(*lines: str) -> list[object]:
    return [json.loads(row) for row in statistics.rows(HEADER + "\n".join(lines), NUMBERS, lambda kind, name, proxy: proxy != "out")]


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ("web,FRONTEND,3,OPEN,0,,,7,,", {"name": "web", "type": "frontend", "stats": {"scur": 3, "status": "OPEN"}}),
        ("app,BACKEND,,UP,1,,,,-1,", {"name": "app", "type": "backend", "stats": {"status": "UP", "lastsess": -1}}),
        (
            'app,s1,1,UP 1/3,2,[::1]:80,"a ""word"", and \\ more",,,',
            {
                "backend_name": "app",
                "name": "s1",
                "type": "server",
                "stats": {"scur": 1, "status": "UP 1/3", "addr": "[::1]:80", "last_chk": 'a "word", and \\ more'},
            },
        ),
        ("app,s2,many,UP,2,,,,1.5,", {"backend_name": "app", "name": "s2", "type": "server", "stats": {"status": "UP"}}),
        ("app,s2,٣,UP,2,,,,-,", {"backend_name": "app", "name": "s2", "type": "server", "stats": {"status": "UP"}}),
    ],
)
def test_a_row(line: str, row: object) -> None:
    assert rows(line) == [row]


def test_rows_that_are_left_out() -> None:
    assert rows("web,sock-1,1,OPEN,3,,,,,", "out,FRONTEND,1,OPEN,0,,,,,", "app,s1,1,UP,2", "") == []


def test_the_answer() -> None:
    assert statistics.answer("/a@1", []) == b'{"runtimeAPI":"/a@1"}\n'
    whole = statistics.answer('/"a"', ['{"name":"caf\udce9"}', "{}"])
    assert json.loads(whole) == {"runtimeAPI": '/"a"', "stats": [{"name": "caf\udce9"}, {}]}
