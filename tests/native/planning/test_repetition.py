"""Lines that say again what is inherited."""

import pytest

from haproxy_native.planning.backend_plan import repeats_inherited
from haproxy_native.planning.servers import ancestors
from haproxy_native.text.document import Document

DEFAULTS = """\
defaults base
  balance leastconn
  timeout server 5s
  http-request deny
  retries 1
  retries 2

defaults near from base
  balance roundrobin

backend b from near
"""


@pytest.mark.parametrize(
    ("lines", "is_repeated"),
    [
        ("balance roundrobin", True),
        ("balance   roundrobin  # as above", True),
        ("balance leastconn", False),
        ("balance roundrobin\n  balance leastconn\n  balance roundrobin", False),
        ("timeout server 5s", True),
        ("timeout server 6s", False),
        ("timeout connect 5s", False),
        ("retries 2", True),
        ("retries 1", False),
        ("hash-type consistent", False),
        ("http-request deny", False),
    ],
)
def test_repetition(lines: str, is_repeated: bool) -> None:
    document = Document.parse(f"{DEFAULTS}  {lines}\n")
    section = document.find("backend", "b")
    assert section
    assert repeats_inherited(section.lines[1], section, ancestors(document, section)) is is_repeated
