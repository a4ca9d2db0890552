import ssl
from pathlib import Path

from dataplaneapi.doctor import checks
from dataplaneapi.doctor.receivers import unreachable, unusable
from dataplaneapi.settings.table import Settings
from haproxy_native.webhooks.webhook import Webhook
from tests.app.authority import Authority
from tests.receiver import SECRET, Receiver


def test_what_signs_and_what_is_trusted(tmp_path: Path) -> None:
    assert unusable(Webhook("a", "http://a", SECRET)) == ""
    assert "nosuch" in unusable(Webhook("a", "http://a", secret_file=str(tmp_path / "nosuch")))
    assert "nosuch" in unusable(Webhook("a", "http://a", SECRET, ca_file=str(tmp_path / "nosuch")))


def test_whether_connections_are_taken(tmp_path: Path) -> None:
    with Receiver() as receiver:
        assert unreachable(Webhook("a", receiver.url)) == "" and not receiver.requests
    assert f"127.0.0.1:{receiver.port}" in unreachable(Webhook("a", receiver.url))


def test_tls_is_tried(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.issue("server"))
    with Receiver(context=context) as receiver:
        assert unreachable(Webhook("a", receiver.url, ca_file=str(authority.file))) == ""
        assert "CERTIFICATE_VERIFY_FAILED" in unreachable(Webhook("a", receiver.url))


def test_the_doctor_says_so(tmp_path: Path) -> None:
    with Receiver() as receiver:
        given = {"name": "a", "url": receiver.url, "secret": SECRET}
        others = [given | {"name": "b", "secret": "", "secret_file": "/nosuch"}, given | {"name": "c", "url": "http://127.0.0.1:1/"}]
        found = list(checks._of_webhooks(Settings(webhooks=[given, *others])))
    assert [(each.level, each.part) for each in found] == [("note", "webhook a"), ("error", "webhook b"), ("warning", "webhook c")]
