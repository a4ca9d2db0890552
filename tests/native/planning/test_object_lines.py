"""At which line an object or a member stands."""

import pytest

from haproxy_native.planning.effects import file_of_object, line_of_member
from haproxy_native.text import parts
from haproxy_native.text.document import Document

TEXT = """\
# top

global
    maxconn 5

# the shop
backend shop
    balance roundrobin
    option httpchk GET /
    http-request deny
    timeout connect 5s
    server a 127.0.0.1:1
    server b 127.0.0.1:2 weight 5
"""


@pytest.mark.parametrize(
    ("object_", "member", "line"),
    [
        ("global", "performance_options", 4),
        ("backend/shop", "", 7),
        ("backend/shop", "balance", 8),
        ("backend/shop", "httpchk_params", 9),
        ("backend/shop", "http_request_rule_list", 10),
        ("backend/shop", "connect_timeout", 11),
        ("backend/shop", "retries", 7),
        ("backend/shop/server/b", "weight", 13),
        ("backend/shop/server/none", "", 7),
        ("backend/none", "", None),
        ("map/hosts.map", "/a", None),
    ],
)
def test_the_line(object_: str, member: str, line: int | None) -> None:
    assert line_of_member(Document.parse(TEXT), object_, member) == line


def test_it_is_counted_in_its_file() -> None:
    joined = parts.join([(parts.MAIN, b"global\n"), ("/b.cfg", b"\nbackend b\n    server s 127.0.0.1:1\n")])
    assert line_of_member(Document.parse(joined), "backend/b/server/s") == 3
    files = [file_of_object(Document.parse(joined), each) for each in ("backend/b/server/s", "global", "backend/c", "map/x")]
    assert files == ["/b.cfg", "", "", ""]
