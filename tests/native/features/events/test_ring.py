from difflib import ndiff

import pytest

from haproxy_native.editing import state_ring
from haproxy_native.features.events import servers
from haproxy_native.text.document import Document

RING = "ring events\n  size 32768\n"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("global\n  log ring@events local0\nbackend b\n  log global\n" + RING, "events"),
        ("defaults d\n  log global\nglobal\n  log ring@events local0\nbackend b from d\n" + RING, "events"),
        ("defaults\n  log ring@events local0\nlisten b\n" + RING, "events"),
        ("backend b\n  log ring@events local0\n" + RING, "events"),
        ("global\n  log ring@events local0\nbackend b\n" + RING, ""),
        ("global\n  log ring@events local0\nfrontend b\n  log global\n" + RING, ""),
        ("backend b\n  log ring@other local0\n" + RING, ""),
        ("backend b\n  log 127.0.0.1 local0\n" + RING, ""),
        ("", ""),
    ],
)
def test_the_ring_that_backends_log_to(text: str, name: str) -> None:
    assert state_ring.ring(Document.parse(text)) == name


def test_what_to_add_makes_all_backends_log_to_a_ring() -> None:
    text = "global\n  maxconn 5\n{}defaults\n  mode http\n{}backend a\nlisten b\n"
    lines = state_ring.lines_to_add(Document.parse(text.format("", "")))
    added = Document.parse(text.format(lines.pop("global"), lines.pop("defaults")) + "".join(lines.values()))
    assert state_ring.ring(added) == state_ring.NAME and state_ring.lines_to_add(added) == {}


@pytest.mark.parametrize(
    "text",
    [
        "backend a\n    server s 127.0.0.1:1",
        "defaults\n\nlisten a\n    log 127.0.0.1 local0\n    server s 127.0.0.1:1\n",
        "global\r\n  daemon\r\n\r\ndefaults d\r\n  mode http\r\n\r\nbackend a from d\r\n  server s 127.0.0.1:1\r\n",
        "backend early\n# of d\ndefaults d\n  log global # known\n\nring state-events\n    size 32768\n\nbackend a from d\n",
        "global\n  .if defined(X)\n  maxconn 1\n  .endif\n# end\ndefaults\n  mode http\n\n# kept\nbackend a\n",
    ],
)
def test_the_lines_are_added_and_nothing_else_changes(text: str) -> None:
    added = state_ring.with_lines(Document.parse(text))
    assert state_ring.lines_to_add(Document.parse(added.data)) == {}
    lines = [line[0] for line in ndiff(text.splitlines(), added.text.splitlines()) if line[2:].strip()]
    assert "-" not in lines and (text.find("\r") < 0 or "daemon\r\n  log ring@state-events" in added.text)
    assert state_ring.with_lines(added).data == added.data


def test_some_backends_alone_are_not_enough() -> None:
    assert state_ring.lines_to_add(Document.parse("backend a\n  log ring@events local0\nbackend b\n" + RING))


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("<5>Server shop/web1 is going DOWN for maintenance. 1 active", ("shop",)),
        ("Backup Server shop/web1 is UP, reason: Layer4 check passed", ("shop",)),
        ("<0>backend shop has no server available!", ("shop",)),
        ("143 events dropped", None),
        ("Proxy started.", ()),
    ],
)
def test_the_backends_that_a_line_tells_of(line: str, found: object) -> None:
    assert servers.backends_in(line) == found
