"""Where the `maxconn` of a frontend decides what a server gets."""

import pytest

from haproxy_native.planning.backend_plan import backend_limited_by
from haproxy_native.text.document import Document

TEXT = """\
defaults base
  mode http
frontend f from base
  use_backend %[path] if FALSE
  use_backend other if TRUE
  default_backend app
backend app from base
  server s 192.0.2.1:80 maxconn 9
backend other from base
  server s 192.0.2.1:80 maxconn 9
backend third from base
  server s 192.0.2.1:80 minconn 1 maxconn 9
listen f
  server s 192.0.2.1:80 maxconn 9
"""
MINCONN = "backend {}\n  server s 192.0.2.1:80 minconn 1 maxconn 9"
ROWS = [
    ("no server has minconn", "", "", ""),
    ("the default", "backend app from base\n", "backend app from base\n  default-server minconn 2\n", "app"),
    ("one of several", "backend other from base\n", "backend other from base\n  default-server minconn 2\n", "other"),
    ("inherited minconn", "  mode http\n", "  mode http\n  default-server minconn 2\n", "app"),
    ("inherited default", "  default_backend app\n", "", ""),
    ("default of the defaults", "  mode http\n", "  mode http\n  default_backend third\n", "third"),
    ("fullconn is given", "backend app from base\n", "backend app from base\n  fullconn 5\n  default-server minconn 2\n", ""),
    ("fullconn 0 is none", "backend app from base\n", "backend app from base\n  fullconn 0\n  default-server minconn 2\n", "app"),
    ("fullconn on a condition", "backend app from base\n", "backend app\n.if 1\n  fullconn 5\n.endif\n  default-server minconn 2\n", "app"),
    ("a name that only HAProxy can resolve", "default_backend app", 'default_backend "${APP}"', "third"),
]


@pytest.mark.parametrize(("old", "new", "backend"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_backends_behind_a_frontend(old: str, new: str, backend: str) -> None:
    document = Document.parse(TEXT.replace(old, new, 1))
    frontend = document.find("frontend", "f")
    assert frontend
    assert backend_limited_by(document, frontend) == backend


def test_a_listen_section_is_behind_itself() -> None:
    document = Document.parse("listen l\n  maxconn 10\n  server s 192.0.2.1:80 minconn 1 maxconn 3\n")
    assert backend_limited_by(document, document.sections[0]) == "l"
