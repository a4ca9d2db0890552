"""Backends that HAProxy does not delete, recognised by the text; HAProxy 3.4 answers the same."""

from pathlib import Path

import pytest

from haproxy_native.planning.backend_plan import deletion_obstacle
from haproxy_native.planning.plan import plan
from haproxy_native.text.document import Document
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy
from tests.native.planning.test_backend_plan import MODERN

HEAD = """\
global
  stats socket {stats} level admin

defaults base
  mode http
  timeout connect 1s
  timeout client 1s
  timeout server 1s

"""
KEPT = [
    ("backend b from base\n  stick-table type ip size 1k\n", "stick-table", "HAProxy cannot delete a backend with such a line"),
    ("backend b from base\n  option transparent\n", "option", "HAProxy cannot delete a backend with such a line"),
    (
        "backend b from base\n  server s 127.0.0.1:1\n  use-server s if TRUE\n",
        "use-server",
        "HAProxy cannot delete server s, which this line names",
    ),
    ("backend b from base\n  server s 127.0.0.1:1 check\n  server t 127.0.0.1:1 track s\n", "server", "server s, which this line names"),
    ("backend b from base\n  server s 127.0.0.1:1 check\n  server t 127.0.0.1:1 track b/s\n", "server", "server s, which this line names"),
]
FREE = [
    ("backend b from base\n  stick on src table c\n", "backend c from base\n  stick-table type ip size 1k\n"),
    ("backend b from base\n  server s 127.0.0.1:1 track c/s\n", "backend c from base\n  server s 127.0.0.1:1 check\n"),
    ("backend b from base\n  server track 127.0.0.1:1\n", "backend c from base\n"),
    ("backend b from base\n  server s 127.0.0.1:1\n  use-server %[path] if TRUE\n", "backend c from base\n"),
]


def refusals(haproxy: HAProxy, section: str) -> list[str]:
    """What HAProxy says of the backend and its servers, but that they are in service."""
    servers = [line.split()[1] for line in section.splitlines() if line.startswith("  server ")]
    asked = ["wait 1 be-removable b", *(f"wait 1 srv-removable b/{server}" for server in servers)]
    answers = map(haproxy.ask, asked)
    return [answer for answer in answers if "annot" in answer or "Deletion of" in answer]


@pytest.mark.parametrize(("section", "keyword", "why"), KEPT)
def test_what_it_keeps(tmp_path: Path, section: str, keyword: str, why: str) -> None:
    text = HEAD + section
    (reason,) = plan(Document.parse(text), Document.parse(HEAD), MODERN).reasons
    assert reason.keyword == keyword
    assert why in reason.why
    with HAProxy(tmp_path, text, binary=binaries.exactly("3.4")) as haproxy:
        assert refusals(haproxy, section)


@pytest.mark.parametrize(("section", "others"), FREE)
def test_what_it_deletes(tmp_path: Path, section: str, others: str) -> None:
    found = Document.parse(HEAD + section + others).find("backend", "b")
    assert found
    assert deletion_obstacle(found, {"s", "track"}) is None
    with HAProxy(tmp_path, HEAD + section + others, binary=binaries.exactly("3.4")) as haproxy:
        assert refusals(haproxy, section) == []
