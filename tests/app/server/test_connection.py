"""Who a client is, by its certificate."""

from typing import Any

import pytest

from dataplaneapi.server.connection import connection, names
from dataplaneapi.server.endpoint import Endpoint

SUBJECT = ((("organizationName", "o"),), (("commonName", "cn"),))


@pytest.mark.parametrize(
    ("certificate", "wanted"),
    [
        ({}, ()),
        ({"subject": SUBJECT}, ("commonName=cn",)),
        ({"subject": (), "subjectAltName": (("URI", "spiffe://a/b"),)}, ("URI=spiffe://a/b",)),
        (
            {"subject": SUBJECT, "subjectAltName": (("IP Address", "::1"), ("DNS", "d"), ("URI", "u"), ("email", "e"), ("DNS", "cn"))},
            ("URI=u", "DNS=d", "DNS=cn", "email=e", "IP Address=::1", "commonName=cn"),
        ),
        ({"subjectAltName": (("othername", "x"),)}, ()),
    ],
)
def test_names(certificate: Any, wanted: tuple[str, ...]) -> None:
    assert tuple(f"{kind}={value}" for kind, value in names(certificate)) == wanted


def test_one_that_may_and_one_that_may_not() -> None:
    endpoint = Endpoint(client_names=("cn",))
    assert connection(endpoint, {"subject": SUBJECT}).refused == ""
    other = connection(endpoint, {"subjectAltName": (("URI", "u"),), "serialNumber": "07"})
    assert (other.name, other.refused) == ("u", "client certificate 'u' is not among tls_client_names")
    assert "'07'" in connection(endpoint, {"serialNumber": "07"}).refused


@pytest.mark.parametrize(
    ("others", "common", "is_one"),
    [
        ((("URI", "spiffe://td/a"),), "cn", True),
        ((("DNS", "td"), ("URI", "spiffe://td/a")), "spiffe://td/b", True),
        ((), "spiffe://td/a", False),
        ((("DNS", "spiffe://td/a"),), "cn", False),
        ((("email", "spiffe://td/a"),), "cn", False),
        ((("URI", "spiffe://td/a"), ("URI", "spiffe://td/b")), "cn", False),
        ((("URI", "spiffe://td/a/../b"),), "cn", False),
        ((("URI", "spiffe://td/a/"),), "cn", False),
        ((("URI", "spiffe://td/%2e%2e/b"),), "cn", False),
        ((("URI", "https://td/a"),), "cn", False),
    ],
)
def test_spiffe_ids(others: tuple[tuple[str, str], ...], common: str, is_one: bool) -> None:
    """What is none stays the name of a certificate, whatever it looks like."""
    certificate = {"subject": ((("commonName", common),),), "subjectAltName": others}
    made = connection(Endpoint(), certificate)
    assert made.is_spiffe is is_one and made.name == names(certificate)[0][1]


@pytest.mark.parametrize("name", ["ann\nadmin", "ann\x00", "a\u00a0nn", "\u202eann"])
def test_a_name_that_cannot_be_printed_is_no_caller(name: str) -> None:
    assert "characters that cannot be printed" in connection(Endpoint(), {"subject": ((("commonName", name),),)}).refused
    assert connection(Endpoint(), {"subject": ((("commonName", "ann  b"),),)}).name == "ann  b"


def test_without_a_certificate() -> None:
    assert connection(Endpoint(), None).name == ""
