"""What of a certificate file is shown, and what is refused before it is stored."""

from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.serialization import PrivateFormat

from haproxy_native.errors import BadRequest
from haproxy_native.storage import certificate
from tests.tls.pems import Made, authority, made

ONE = made("a.example.com", 0x1A2B3C4D5E6F, names=("www.a.example.com", "192.0.2.5"))
OTHER = made("b.example.com", 2)
ROOT = authority()
LEAF = made("leaf.example.com", 6205185, by=ROOT, names=("*.leaf.example.com",))


def test_one_certificate() -> None:
    shown = certificate.parse_loadable(ONE.pem.encode()).described()
    assert shown["not_before"] == "2024-05-01T08:00:00.000Z"
    assert shown["not_after"] == "2044-05-01T08:00:00.000Z"
    assert (shown["subject"], shown["serial"], shown["issuers"]) == ("a.example.com", "28772997619311", "a.example.com")
    assert (shown["domains"], shown["ip_addresses"]) == ("a.example.com, www.a.example.com", "192.0.2.5")
    assert certificate.parse_certificates(ONE.cert.encode()).fingerprint == ONE.certificate.fingerprint(SHA1()).hex().upper()


def test_what_a_certificate_does_not_have_is_not_told() -> None:
    assert "ip_addresses" not in certificate.parse_loadable(OTHER.pem.encode()).described()


@pytest.mark.parametrize("text", [LEAF.cert + ROOT.cert + LEAF.private, LEAF.private + LEAF.cert + ROOT.cert])
def test_a_chain_is_told_by_its_leaf(text: str) -> None:
    shown = certificate.parse_loadable(text.encode()).described()
    assert (shown["subject"], shown["serial"]) == ("leaf.example.com", "6205185")
    assert (shown["domains"], shown["issuers"]) == ("*.leaf.example.com, leaf.example.com", "Test Root")


def test_issuers_are_sorted_and_told_once() -> None:
    middle = made("Middle", 11, by=ROOT, ca=True)
    leaf = made("x.example.com", 12, by=middle)
    shown = certificate.parse_certificates((leaf.cert + middle.cert + ROOT.cert).encode()).described()
    assert shown["issuers"] == "Middle, Test Root"


def test_without_a_leaf_there_is_no_serial() -> None:
    shown = certificate.parse_certificates((ROOT.cert + authority("Another").cert).encode()).described()
    assert "serial" not in shown


@pytest.mark.parametrize("kind", ["rsa", "ed25519", "dsa"])
def test_kinds_of_keys(kind: str) -> None:
    assert certificate.parse_loadable(made("k.example.com", 7, kind=kind).pem.encode()).described()["serial"] == "7"


def test_a_block_is_what_openssl_takes_for_one() -> None:
    older = ONE.pem.replace("N CERTIFICATE", "N X509 CERTIFICATE").replace("D CERTIFICATE", "D X509 CERTIFICATE")
    assert certificate.parse_loadable(older.encode()).fingerprint == certificate.parse_certificates(ONE.cert.encode()).fingerprint
    assert (
        certificate.parse_loadable(f"  {OTHER.cert}{ONE.pem}".encode()).fingerprint
        == certificate.parse_certificates(ONE.cert.encode()).fingerprint
    )


@pytest.mark.parametrize(
    ("expected", "shown"),
    [
        ({"sha1_finger_print": certificate.parse_certificates(ONE.cert.encode()).fingerprint}, True),
        ({"sha1_finger_print": "00", "serial": "1A2B3C4D5E6F"}, False),
        ({"serial": "1A2B3C4D5E6F", "not_before": "2024-05-01T08:00:00.000Z", "not_after": "2044-05-01T08:00:00.000Z"}, True),
        ({"serial": "1A2B3C4D5E6F", "not_before": "2024-05-01T08:00:00.000Z", "not_after": "2045-05-01T08:00:00.000Z"}, False),
        ({}, False),
    ],
)
def test_what_haproxy_shows(expected: dict[str, str], shown: bool) -> None:
    assert certificate.parse_certificates(ONE.cert.encode()).is_shown(expected) is shown


def test_keys_in_their_older_form() -> None:
    for key in (made("o.example.com"), made("r.example.com", kind="rsa")):
        certificate.parse_loadable((key.cert + key.key_as(PrivateFormat.TraditionalOpenSSL)).encode())


def test_a_key_in_a_file_of_its_own() -> None:
    certificate.parse_loadable(ONE.cert.encode(), ONE.private.encode())
    with pytest.raises(BadRequest, match="does not belong"):
        certificate.parse_loadable(ONE.cert.encode(), OTHER.private.encode())


DAMAGED = ONE.private[:60] + "AAAA" + ONE.private[64:]
REFUSED = [
    ("", "failed to parse certificate: no CERTIFICATE block"),
    ("hello", "failed to parse certificate: no CERTIFICATE block"),
    (ONE.private, "failed to parse certificate: no CERTIFICATE block"),
    (
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" + ONE.private,
        "failed to parse certificate: a CERTIFICATE block is damaged",
    ),
    (ONE.cert, "file should contain both certificate and private key"),
    (ONE.cert + OTHER.private, "does not belong to the first certificate of the file (a.example.com)"),
    (ROOT.cert + LEAF.cert + LEAF.private, "does not belong to the first certificate of the file (Test Root)"),
    (ONE.cert + DAMAGED, "the private key is damaged"),
    (ONE.cert + ONE.key_as(PrivateFormat.PKCS8, b"secret"), "the private key is encrypted"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_what_is_refused_and_why(text: str, reason: str) -> None:
    with pytest.raises(BadRequest) as raised:
        certificate.parse_loadable(text.encode())
    assert reason in str(raised.value)
    assert not any(line in str(raised.value) for line in ONE.private.splitlines() + OTHER.private.splitlines() if line)


def test_an_expired_certificate_is_accepted_with_a_warning() -> None:
    """HAProxy loads it."""
    yesterday = datetime.now(UTC) - timedelta(days=1)
    old: Made = made("old.example.com", until=yesterday)
    assert "(old.example.com) expired on 20" in certificate.parse_loadable(old.pem.encode()).warning
    assert certificate.parse_loadable(made("new.example.com").pem.encode()).warning == ""
    assert certificate.holds_certificate(old.pem.encode())


def test_an_expired_authority_in_the_chain_does_not_matter() -> None:
    root = made("Old Root", ca=True, until=datetime.now(UTC) - timedelta(days=1))
    leaf = made("fresh.example.com", by=root)
    certificate.parse_loadable((leaf.cert + root.cert + leaf.private).encode())


def test_certificates_and_key_apart() -> None:
    one, two = made("one.test"), made("two.test", 2)
    assert certificate.split_key((one.cert + one.private + two.cert).encode()) == ((one.cert + two.cert).encode(), one.private.encode())


def test_what_stands_beside_certificates_is_none() -> None:
    assert not certificate.holds_certificate(b"/etc/haproxy/ssl/a.pem a.example.com\n")
    assert not certificate.holds_certificate(ROOT.cert.encode())


@pytest.mark.parametrize("unit", [b"-----BEGIN A-----\n", b"-----BEGIN A-----\n-----END B-----\n", b"-----BEGIN CERTIFICATE-----\nAA\n"])
def test_marks_without_an_end_are_read_in_linear_time(unit: bytes) -> None:
    """Otherwise this takes hours: the limit of a test's time ends it."""
    with pytest.raises(BadRequest):
        certificate.parse_certificates(unit * ((1 << 22) // len(unit)))
