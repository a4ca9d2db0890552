"""Servers with everything they inherit, as HAProxy builds them."""

import pytest

from haproxy_native.grammar.load import grammar
from haproxy_native.planning.servers import EffectiveServer, Servers, ancestors
from haproxy_native.text.document import Document

SERVERS = Servers(grammar())
TEXT = """\
defaults far
  default-server inter 9s rise 9 weight 9
defaults near from far
  default-server inter 8s
backend app
  server above 192.0.2.1:80
  default-server rise 7
  server below 192.0.2.2:80 inter 6s fancy
  default-server odd
  server last 192.0.2.3:80
"""


def effective(text: str, backend: str = "app") -> list[EffectiveServer]:
    document = Document.parse(text.encode())
    section = document.find("backend", backend)
    assert section
    found = SERVERS.read_section(document, section)
    assert found is not None
    return list(found.servers)


def test_the_nearest_word_counts_and_only_for_servers_below() -> None:
    above, below, last = effective(TEXT)
    assert (above.values["inter"], above.values["rise"], above.values["weight"]) == (8000, 9, 9)
    assert (below.values["inter"], below.values["rise"], below.values["weight"]) == (6000, 7, 9)
    assert (above.opaque, below.opaque, last.opaque) == ((), ("fancy",), ("odd",))
    assert [each.place for each in (above, below, last)] == [1, 3, 5]


@pytest.mark.parametrize(
    ("header", "inter"),
    [("backend app", 8000), ("backend app from far", 9000), ("backend app from gone", None), ("backend app from near", 8000)],
)
def test_whom_a_backend_inherits_from(header: str, inter: int | None) -> None:
    assert effective(TEXT.replace("backend app", header))[0].values.get("inter") == inter


def test_defaults_that_go_in_a_circle_end() -> None:
    document = Document.parse(TEXT.replace("defaults far", "defaults far from near").encode())
    section = document.find("backend", "app")
    assert section
    assert [each.name for each in ancestors(document, section)] == ["near", "far"]


def test_names_are_those_haproxy_knows() -> None:
    assert [each.name for each in effective(TEXT.replace("server above", 'server "ab"ove').replace("below", '"${NAME}"'))] == [
        "above",
        "${NAME}",
        "last",
    ]


def test_a_line_that_is_no_server() -> None:
    document = Document.parse(b"backend app\n  server\n")
    assert SERVERS.read_section(document, document.sections[0]) is None


def test_the_words_of_a_whole_server() -> None:
    above = effective(TEXT)[0]
    assert SERVERS.words(above) == [["192.0.2.1:80"], ["inter", "8s"], ["rise", "9"], ["weight", "9"]]
    assert SERVERS.words(above, ["weight", "rise"]) == [["192.0.2.1:80"], ["inter", "8s"]]


def test_members_that_the_line_drops() -> None:
    assert Servers(grammar()).wordless_members() >= {"no_tlsv12", "no_sslv3", "force_tlsv12"}
