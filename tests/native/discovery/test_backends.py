"""Services in a document."""

from dataclasses import replace

import pytest

from haproxy_native.discovery.backends import DesiredBackend, Growth, ServiceEndpoint, with_service, without_service
from haproxy_native.editing.editor import Editor
from haproxy_native.errors import BadValue, NativeError
from haproxy_native.text.document import Document

GROWTH = Growth(2, None)
EDITOR = Editor()
TEXT = """\
defaults base
  mode http

backend mine   # by hand
  balance leastconn
  server one 10.0.0.1:80 check weight 128 maxconn 9   # the first
  server two   127.0.0.1:80 check disabled weight 128
  server
"""


def after(text: str, name: str, *wanted: ServiceEndpoint, **more: str) -> str:
    return with_service(EDITOR, Document.parse(text), name, wanted, GROWTH, **more).text


def test_only_slots_that_change_are_edited() -> None:
    new = after(TEXT, "mine", ServiceEndpoint("10.0.0.1", 80), ServiceEndpoint("10.0.0.2", 8080))
    assert new == TEXT.replace("two   127.0.0.1:80 check disabled weight 128", "two   10.0.0.2:8080 check weight 128")


def test_nothing_new_is_the_same_document() -> None:
    document = Document.parse(TEXT)
    assert with_service(EDITOR, document, "mine", [ServiceEndpoint("10.0.0.1", 80)], GROWTH) is document
    assert without_service(EDITOR, document, "absent", GROWTH) is document


def test_wishes() -> None:
    document = Document.parse(TEXT)
    wish = DesiredBackend("mine", (ServiceEndpoint("10.0.0.1", 80),), GROWTH)
    assert wish.apply(EDITOR, document) is document
    gone = replace(wish, endpoints=None)
    assert gone.apply(EDITOR, document).text == without_service(EDITOR, document, "mine", GROWTH).text
    assert not gone.is_same(wish)


def test_a_service_that_is_gone_leaves_its_slots() -> None:
    new = without_service(EDITOR, Document.parse(TEXT), "mine", GROWTH).text
    assert "server one 127.0.0.1:80 check disabled weight 128 maxconn 9   # the first" in new
    assert "  server\n" in new


def test_new_backends_follow_their_defaults() -> None:
    new = after(TEXT, "web-1", ServiceEndpoint("::1", 80), defaults="base")
    assert "backend web-1 from base\n  server SRV_" in new
    assert " [::1]:80 check weight 128\n" in new
    assert new.startswith(TEXT)


@pytest.mark.parametrize(
    ("name", "wanted", "more"),
    [
        ("two words", [], {}),
        ("a\nb", [], {}),
        ("web", [ServiceEndpoint("10.0.0.1 disabled", 80)], {}),
        ("web", [ServiceEndpoint('"', 80)], {}),
        ("web", [ServiceEndpoint("10.0.0.1", 70000)], {}),
        ("web", [], {"defaults": "absent"}),
    ],
)
def test_what_cannot_stand_in_the_file(name: str, wanted: list, more: dict) -> None:
    with pytest.raises(NativeError):
        after(TEXT, name, *wanted, **more)


def test_refusals_name_the_value() -> None:
    with pytest.raises(BadValue, match="'two words' cannot be the name of a backend"):
        after(TEXT, "two words")
