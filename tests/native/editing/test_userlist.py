"""Users as HAProxy would see them in a userlist."""

from pathlib import Path

import pytest

from haproxy_native.editing.userlist import User, find, find_in_file, users
from haproxy_native.text.document import Document

TEXT = b"""userlist controller
    group ops users first
    user first insecure-password one    # the boss
    user 'the second' password $5$salt$hash groups ops
    user third groups ops insecure-password "${SECRET}"
    user fourth insecure-password "two words"
    user without groups ops

userlist empty
"""


def test_users_in_file_order() -> None:
    assert users(find(Document.parse(TEXT), "controller")) == [
        User("first", "one", True),
        User("the second", "$5$salt$hash", False),
        User("third", '"${SECRET}"', True),
        User("fourth", "two words", True),
    ]


@pytest.mark.parametrize("name", ["empty", "missing"])
def test_no_users(name: str) -> None:
    assert users(find(Document.parse(TEXT), name)) == []


def test_a_file_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "users.cfg"
    path.write_bytes(TEXT)
    assert len(users(find_in_file(str(path), "controller"))) == 4
    with pytest.raises(FileNotFoundError):
        find_in_file(str(tmp_path / "none"), "controller")
