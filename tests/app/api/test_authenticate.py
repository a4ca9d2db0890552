"""Every change has who asked for it and why, from one place."""

from typing import Any

import pytest

from dataplaneapi.api import authenticate
from dataplaneapi.server.connection import Connection
from dataplaneapi.server.endpoint import Endpoint
from haproxy_native.commit.events import Committed, Event
from haproxy_native.request_context import Author
from tests.app.client import CONFIG, Client

NEW = {"name": "be1"}


def authors(client: Client, *calls: Any) -> list[Author]:
    events: list[Event] = []
    client.engine.context.events.listen(events.append)
    for call in calls:
        assert call().status in (202, 409)
    return [event.change.author for event in events if isinstance(event, Committed) and event.change]


def test_the_user_the_address_the_request_and_the_message(client: Client) -> None:
    ids: list[str] = []

    def create() -> Any:
        got = client.post(f"{CONFIG}/backends?version=1", NEW, headers={"X-Change-Message": "more\tcapacity "})
        ids.append(got.headers["X-Request-Id"])
        return got

    (author,) = authors(client, create)
    assert (author.name, author.address, author.request_id, author.message) == ("admin", "127.0.0.1", *ids, "more capacity")


def test_of_a_change_that_is_refused_as_well(client: Client) -> None:
    create, again = (lambda version=version: client.post(f"{CONFIG}/backends?version={version}", NEW) for version in (1, 2))
    assert [author.name for author in authors(client, create, again)] == ["admin", "admin"]


def test_a_client_certificate_where_no_password_is_asked_for(client: Client) -> None:
    client.connection = Connection(Endpoint(basic_auth=False), "two  blanks")
    (author,) = authors(client, lambda: client.post(f"{CONFIG}/backends?version=1", NEW))
    assert author.name == "two  blanks", "it identifies the caller as it is"


@pytest.mark.parametrize(("is_spiffe", "group"), [(True, "spiffe"), (False, "certificates")])
def test_a_name_that_looks_like_a_spiffe_id_has_the_roles_of_none(client: Client, is_spiffe: bool, group: str) -> None:
    client.connection = Connection(Endpoint(basic_auth=False), "spiffe://mesh/ci", is_spiffe=is_spiffe)
    (author,) = authors(client, lambda: client.post(f"{CONFIG}/backends?version=1", NEW))
    assert author.group == group


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        (b"", ""),
        (b"  two\r\nlines\x00 ", "two lines"),
        ("gr\u00fcn".encode(), "gr\u00fcn"),
        (b"\xff", "\ufffd"),
        (b"a" * 600, "a" * authenticate.LONGEST_MESSAGE),
        (b"right\xe2\x80\xaeleft", "right left"),
    ],
)
def test_a_message_is_one_clean_line(sent: bytes, kept: str) -> None:
    assert authenticate.message(sent) == kept
