"""CSV in, JSON out, cell by cell."""

import json

import pytest

from haproxy_native.runtime.dumps import StatisticsDump

HEADER = "# pxname,svname,scur,status,type,addr,last_chk,new_in_9,lastsess,\n"
NUMBERS = {"scur": True, "status": False, "addr": False, "last_chk": False, "lastsess": True}


def rows(*lines: str) -> list[object]:
    return [json.loads(row) for row in counters(HEADER + "\n".join([*lines, "", ""])).objects]


def counters(text: str, size: int = 1000) -> StatisticsDump:
    """Fed in pieces of a size."""
    found = StatisticsDump(NUMBERS, lambda kind, name, proxy: proxy != "out")
    data = text.encode("utf-8", "surrogateescape")
    for place in range(0, len(data), size):
        found.take(data[place : place + size])
    return found


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


@pytest.mark.parametrize("size", [1, 2, 7, 64, 1000])
def test_however_it_comes(size: int) -> None:
    text = HEADER + "web,FRONTEND,3,OPEN,0,,,7,,\n" + "app,caf\udce9,1,ü,2,,,,,\n\n"
    found = counters(text, size)
    assert json.loads(found.answer('/"a"')) == {
        "runtimeAPI": '/"a"',
        "stats": [
            {"name": "web", "type": "frontend", "stats": {"scur": 3, "status": "OPEN"}},
            {"backend_name": "app", "name": "caf\udce9", "type": "server", "stats": {"scur": 1, "status": "ü"}},
        ],
    }
    assert found.objects[1] == b'{"backend_name":"app","name":"caf\\udce9","stats":{"scur":1,"status":"\xc3\xbc"},"type":"server"}'
    found.start()
    assert found.answer("/a@1") == b'{"runtimeAPI":"/a@1"}\n'


def test_a_refusal_is_no_statistics() -> None:
    assert counters("Permission denied\n\n", 3).objects == []
