"""What is read and sent for one certificate file."""

import asyncio
from pathlib import Path

import pytest

from haproxy_native.errors import NeedsReload
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.responses import refusal_error
from haproxy_native.storage.certificate_store import certificate_check, certificate_step, needs_reload, read_key_file, read_with_key
from tests.tls.pems import made

ONE = made("a.example.com")


def test_what_is_sent_has_the_key(tmp_path: Path) -> None:
    path = tmp_path / "a.pem"
    assert read_with_key(path) is None
    path.write_text(ONE.pem)
    assert read_with_key(path) == ONE.pem
    path.write_text(ONE.cert)
    assert read_key_file(path) is None
    (tmp_path / "a.pem.key").write_text(ONE.private)
    assert read_with_key(path) == f"{ONE.cert}\n{ONE.private}"


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(NeedsReload, match="cannot be read"):
        read_with_key(tmp_path)


def test_what_is_said_holds_no_content(tmp_path: Path) -> None:
    path = tmp_path / "a.pem"
    path.write_text(ONE.pem)
    assert certificate_step(path, [str(path), "@site/a"]).texts == [f"set ssl cert {path}", "set ssl cert @site/a"]
    assert certificate_step(path, [], ["/dir"]).texts == [f"new ssl cert {path}", f"add ssl crt-list /dir {path}"]


@pytest.mark.parametrize(
    "said",
    [
        "The command line is too big for the buffer size.",
        "The ongoing transaction is about 'A' but you are trying to set 'B'\nCan't update B!",
        "Operations on certificates are currently locked!",
        "Can't remove the certificate: certificate '/a.pem' in use, can't be deleted!",
        "Can't delete the entry: certificate 'a' cannot be deleted, it is used as default certificate by the following frontends:",
        "Unknown command: 'set'",
        "Can't edit the crt-list: Incompatibilities found in OCSP update mode for certificate a.pem",
    ],
)
def test_refusals_that_say_nothing_of_the_file(said: str) -> None:
    assert needs_reload(refusal_error(said, "set ssl cert a"))


@pytest.mark.parametrize("said", ["inconsistencies between private key and certificate loaded 'a'.", "Can't load the payload"])
def test_refusals_of_the_file(said: str) -> None:
    assert not needs_reload(refusal_error(said, "set ssl cert a"))


def test_looking_is_only_looking(tmp_path: Path) -> None:
    assert certificate_check(tmp_path / "a.pem", ["/a.pem"]).texts == ["show ssl cert /a.pem"]
    with pytest.raises(NeedsReload, match="no CERTIFICATE block"):
        asyncio.run(certificate_check(tmp_path / "a.pem", ["/a.pem"]).apply(Runtime()))
