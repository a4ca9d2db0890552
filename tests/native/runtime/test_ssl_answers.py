"""What HAProxy prints of its TLS files, as 2.6 to 3.2 do (and 3.4 where that differs)."""

import pytest

from haproxy_native.runtime import ssl_files
from haproxy_native.runtime.ssl_files import CrtListRow

CERTIFICATE = """\
Filename: /ssl/a.pem
Crt filename: /ssl/a.pem
Key filename: /ssl/a.pem
OCSP filename: /ssl/a.pem.ocsp
Status: Used
Serial: 1A2B3C4D5E6F
notBefore: May  1 08:00:00 2024 GMT
notAfter: May  1 08:00:00 2044 GMT
Subject Alternative Name: DNS:a.example.com, IP Address:192.0.2.5
Algorithm: EC256
SHA1 FingerPrint: 76610F975D75F89AF29F6A73AD93C4CC0FD36946
Subject: /CN=a.example.com/O=Site A
Issuer: /CN=Test Root
Chain Subject: /CN=Test Root
Chain Issuer: /CN=Test Root
OCSP Response Key:
"""


def test_a_certificate() -> None:
    assert ssl_files.parse_certificate(CERTIFICATE) == {
        "storage_name": "/ssl/a.pem",
        "status": "Used",
        "serial": "1A2B3C4D5E6F",
        "not_before": "2024-05-01T08:00:00.000Z",
        "not_after": "2044-05-01T08:00:00.000Z",
        "subject_alternative_names": "DNS:a.example.com, IP Address:192.0.2.5",
        "algorithm": "EC256",
        "sha1_finger_print": "76610F975D75F89AF29F6A73AD93C4CC0FD36946",
        "subject": "/CN=a.example.com/O=Site A",
        "issuers": "/CN=Test Root",
        "chain_subject": "/CN=Test Root",
        "chain_issuer": "/CN=Test Root",
    }


def test_of_a_longer_chain_the_last_certificate_is_told() -> None:
    last = "Chain Subject: /CN=Older Root\nChain Issuer: /CN=Oldest Root\nOCSP Response Key:"
    shown = ssl_files.parse_certificate(CERTIFICATE.replace("OCSP Response Key:", last))
    assert (shown["chain_subject"], shown["chain_issuer"], shown["issuers"]) == ("/CN=Older Root", "/CN=Oldest Root", "/CN=Test Root")


def test_the_key_of_a_certificate_may_be_of_a_kind_that_ends_the_answer() -> None:
    shown = ssl_files.parse_certificate(CERTIFICATE.partition("EC256")[0] + "OCSP Response Key: \n")
    assert (shown["serial"], "algorithm" in shown, "subject" in shown) == ("1A2B3C4D5E6F", False, False)


def test_a_certificate_of_a_crt_store_keeps_its_name() -> None:
    shown = ssl_files.parse_certificate(CERTIFICATE.replace("Filename: /ssl/a.pem", "Filename: @shop/a", 1))
    assert (shown["storage_name"], shown["file"]) == ("@shop/a", "/ssl/a.pem")


def test_an_empty_certificate() -> None:
    assert ssl_files.parse_certificate("Filename: b.pem\nStatus: Empty\nOCSP Response Key: \n") == {
        "storage_name": "b.pem",
        "status": "Empty",
    }


@pytest.mark.parametrize("text", ["", "Filename: /ssl/ca.pem\nStatus: Used\n"])
def test_no_certificate(text: str) -> None:
    assert ssl_files.parse_certificate(text) == {}


def test_a_date_that_is_none_is_passed_on() -> None:
    assert ssl_files.parse_certificate("Serial: 1\nnotAfter: (unknown)\n")["not_after"] == "(unknown)"


OPEN = "# transaction\n*/ssl/a.pem\n# filename\n/ssl/a.pem\n\\*.example.com.pem\n"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (OPEN, ["/ssl/a.pem", "*.example.com.pem"]),
        ("# filename\n", []),
        ("", []),
    ],
)
def test_names(text: str, names: list[str]) -> None:
    assert ssl_files.parse_names(text) == names


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (OPEN, "/ssl/a.pem"),
        ("# transaction\n*ca.pem - 1 certificate(s)\n# filename\nca.pem - 2 certificate(s)\n", "ca.pem"),
        ("# filename\n/ssl/a.pem\n", ""),
        ("", ""),
    ],
)
def test_the_open_transaction(text: str, name: str) -> None:
    assert ssl_files.parse_open_transaction(text) == name


def test_ca_files() -> None:
    text = "# transaction\n*/c a.pem - 1 certificate(s)\n# filename\n/c a.pem - 2 certificate(s)\n@system-ca - 145 certificate(s)\n"
    assert ssl_files.parse_ca_files(text) == [
        {"storage_name": "/c a.pem", "count": "2 certificate(s)"},
        {"storage_name": "@system-ca", "count": "145 certificate(s)"},
    ]


def test_entries() -> None:
    text = (
        "# /l.txt\n/a.pem:1 [alpn h2,http/1.1\0 ssl-min-ver TLSv1.2] a !b\n/a.pem:2 \n/b.pem:0\n/c.pem:7 [] r\n/d.pem:9 [alpn h2\0 ] *.x\n"
    )
    assert ssl_files.parse_crt_list(text) == [
        CrtListRow("/a.pem", 1, "alpn h2,http/1.1 ssl-min-ver TLSv1.2", ("a", "!b")),
        CrtListRow("/a.pem", 2),
        CrtListRow("/b.pem", 0),
        CrtListRow("/c.pem", 7, "", ("r",)),
        CrtListRow("/d.pem", 9, "alpn h2", ("*.x",)),
    ]


def test_an_entry_as_an_object() -> None:
    assert CrtListRow("/a.pem", 2).as_object() == {"file": "/a.pem", "line_number": 2}
    assert CrtListRow("/a.pem", 0, "alpn h2", ("x",)).as_object() == {"file": "/a.pem", "ssl_bind_config": "alpn h2", "sni_filter": ["x"]}


CRL = """\
Filename: /ssl/crl.pem
Status: Used

Certificate Revocation List #1:
Version 2
Signature Algorithm: ecdsa-with-SHA256
Issuer: /CN=Test Root
Last Update: Jul  1 00:00:00 2024 GMT
Next Update: Jul  1 00:00:00 2044 GMT
Revoked Certificates:
    Serial Number: 5EAF01
        Revocation Date: Jun 15 12:00:00 2024 GMT
    Serial Number: 5EAF02
        Revocation Date: Jun 16 12:00:00 2024 GMT
Certificate Revocation List #2:
Version 1
Signature Algorithm: sha256WithRSAEncryption
Issuer: /CN=Other
This Update: Jan  2 00:00:00 2025 GMT
Next Update: Jan  3 00:00:00 2025 GMT
No Revoked Certificates.
"""


def test_revocation_lists() -> None:
    about = {"storage_name": "/ssl/crl.pem", "status": "Used"}
    assert ssl_files.parse_crl_entries(CRL) == [
        about
        | {
            "version": "2",
            "signature_algorithm": "ecdsa-with-SHA256",
            "issuer": "/CN=Test Root",
            "last_update": "2024-07-01",
            "next_update": "2044-07-01",
            "revoked_certificates": [
                {"serial_number": "5EAF01", "revocation_date": "2024-06-15"},
                {"serial_number": "5EAF02", "revocation_date": "2024-06-16"},
            ],
        },
        about
        | {
            "version": "1",
            "signature_algorithm": "sha256WithRSAEncryption",
            "issuer": "/CN=Other",
            "last_update": "2025-01-02",
            "next_update": "2025-01-03",
        },
    ]


def test_a_file_without_lists() -> None:
    assert ssl_files.parse_crl_entries("Filename: n\nStatus: Unused\n") == []
