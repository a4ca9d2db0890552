"""Missing account keys of acme sections."""

from pathlib import Path

from haproxy_native.check.check import uncreated_keys, with_keys_in
from haproxy_native.text.document import Document

TEXT = """\
acme one
    directory https://example.org
    account-key /etc/one.key

acme two
    directory https://example.org

acme three
    account-key there.key
backend b
"""


def test_what_could_not_be_made() -> None:
    alert = "[ALERT] (1) : config : acme: cannot create the file '/etc/one.key', check your permissions.\n"
    assert uncreated_keys(alert * 2 + alert.replace("/etc/one.key", "two.account.key")) == {"/etc/one.key", "two.account.key"}
    assert uncreated_keys("[ALERT] (1) : config : something else '/etc/one.key'") == frozenset()


def test_the_same_lines_with_other_keys() -> None:
    document = Document.parse(TEXT)
    one = with_keys_in(Path("/scratch"), document, {"/etc/one.key"})
    assert one.text == TEXT.replace("/etc/one.key", "/scratch/0.key")
    two = with_keys_in(Path("/scratch"), document, {"two.account.key"})
    assert two.text == TEXT.replace("example.org\n\nacme three", "example.org\n    account-key /scratch/1.key\n\nacme three")
    assert with_keys_in(Path("/scratch"), document, {"other"}) is document
