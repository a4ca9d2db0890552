"""Fingerprints that come back stand for what is at their place, and for nothing elsewhere."""

import pytest

from haproxy_native.editing.masked import restored, restored_text
from haproxy_native.editing.secrets import Mask
from haproxy_native.errors import Incomplete
from haproxy_native.text.document import Document

MASK = Mask(b"key")
TEXT = """\
global
    cluster-secret first

userlist people
    user ann groups g1 insecure-password secret-1
    user bob insecure-password secret-2

backend shop
    http-request set-header Authorization "Basic abc" if { path /a }
    http-request set-header Authorization "Basic def"
    stats auth root:secret-3
"""


def of(text: str) -> str:
    return restored_text(text.encode(), Document.parse(TEXT), MASK).decode()


def test_a_text_comes_back_with_its_secrets() -> None:
    shown = MASK.text(TEXT)
    assert "secret" not in shown.replace("cluster-secret", "") and "Basic" not in shown
    assert of(shown) == TEXT and of(TEXT) == TEXT
    assert of(shown.replace("groups g1", "groups g2").replace("path /a", "path /b")) == TEXT.replace("g1", "g2").replace("/a", "/b")
    moved = shown.replace("global\n", "global\n    # first\n")
    assert of(moved) == TEXT.replace("global\n", "global\n    # first\n")


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("user bob", "user eve", "userlist people"),
        ("userlist people", "userlist others", "userlist others"),
        ("backend shop", "backend other", "backend other"),
        ("stats auth", "# stats auth", "backend shop"),
        ("global", "# <masked:123456789abc>\n\nglobal", "above the first section"),
        ("user bob insecure-password", "user bob password", "userlist people"),
    ],
)
def test_elsewhere_it_is_refused(old: str, new: str, place: str) -> None:
    with pytest.raises(Incomplete, match=f"{place}.*send the secret"):
        of(MASK.text(TEXT).replace(old, new))


def test_another_ones_fingerprint() -> None:
    one, other = MASK.fingerprint("secret-1"), MASK.fingerprint("secret-2")
    with pytest.raises(Incomplete, match="userlist people"):
        of(MASK.text(TEXT).replace(one, other))


def test_objects() -> None:
    now = {
        "name": "people",
        "users": {"ann": {"username": "ann", "password": "secret-1"}, "bob": {"username": "bob", "password": "secret-2"}},
    }
    shown = MASK.value(now)
    assert restored(shown, now, MASK) == now and restored(now, now, MASK) == now
    shown["users"]["ann"]["groups"] = "g"
    assert restored(shown, now, MASK)["users"]["ann"] == {"username": "ann", "password": "secret-1", "groups": "g"}
    shown["users"]["eve"] = shown["users"].pop("bob")
    with pytest.raises(Incomplete, match=r"users\.eve\.password"):
        restored(shown, now, MASK)
    with pytest.raises(Incomplete):
        restored(MASK.value(now), None, MASK)


def test_rows_of_a_list_may_move() -> None:
    now = [{"hdr_name": "Authorization", "hdr_format": "a"}, {"hdr_name": "Authorization", "hdr_format": "b"}]
    assert restored(list(reversed(MASK.value(now))), now, MASK) == now[::-1]
