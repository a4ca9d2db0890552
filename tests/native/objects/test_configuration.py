"""A text as typed objects, without a process."""

import pytest

import haproxy_native
from haproxy_native.errors import ReadOnly
from haproxy_native.objects.configuration import Configuration, parse
from haproxy_native.text.document import Document
from tests.native.objects.text import TEXT, configuration


@pytest.mark.parametrize("text", ["", TEXT, "no section\n", "backend b\r\n\tserver a b"])
def test_every_text_is_given_back(text: str) -> None:
    assert (str(parse(text)), bytes(parse(text.encode()))) == (text, text.encode())


def test_bytes_that_are_no_text_stay() -> None:
    assert bytes(parse(b"# \xff\n")) == b"# \xff\n"


def test_the_three_lines() -> None:
    own = haproxy_native.parse(TEXT)
    own.backends["www"].servers["web1"].weight = 10
    assert "server  web1  127.0.0.1:80   weight 10 # one" in str(own)


def test_a_name_that_is_no_section_is_no_attribute() -> None:
    for name in ("bakends", "servers", "spoe_agents", "_x"):
        with pytest.raises(AttributeError):
            getattr(configuration(), name)


def test_a_snapshot_is_read_only() -> None:
    own = Configuration(Document.parse(TEXT.encode()), refusal="a snapshot")
    with pytest.raises(ReadOnly, match="a snapshot"):
        own.backends["www"].servers["web1"].weight = 10
    other = configuration()
    server = other.backends["www"].servers["web1"]
    other.freeze("over")
    with pytest.raises(ReadOnly, match="over"):
        server.weight = 10


def test_a_collection_is_not_assigned() -> None:
    own = configuration()
    with pytest.raises(ReadOnly, match="backends is not assigned: add and delete"):
        own.backends = {}  # type: ignore[misc, assignment]
    assert str(own) == TEXT
