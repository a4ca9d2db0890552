"""Servers in sections that begin inside a condition: whether HAProxy has them is not known, so that they differ in nothing."""

import pytest

from haproxy_native.grammar.load import grammar
from haproxy_native.planning.observed import server_differences
from haproxy_native.planning.section_order import is_conditional
from haproxy_native.planning.servers import Servers
from haproxy_native.text.document import Document

TEXT = """\
defaults
  mode http
peers p
{before}
backend one
  server s 127.0.0.1:1
backend two
  server s 127.0.0.1:1
.endif
backend three
  server s 127.0.0.1:1
"""


@pytest.mark.parametrize("before", [".if defined(NONE)", ".if defined(NONE)\nbackend none\n.else"])
def test_sections_inside_a_condition(before: str) -> None:
    document = Document.parse(TEXT.format(before=before).encode())
    backends = [section for section in document.sections if section.kind == "backend"]
    assert [section.name for section in backends if not is_conditional(document, (section,))] == ["three"]
    assert [found.backend for found in server_differences(document, Servers(grammar()), {}, {})] == ["three"]
