"""A change is taken back among later ones, of a configuration and of a file of its own."""

import pytest

from haproxy_native.changes.rebasing import revert_change
from haproxy_native.errors import Conflict, Diverged
from haproxy_native.history.reverting import reverted_content
from haproxy_native.text.document import Document

HEAD = "# _version=%d\n"
TEXT = """\
backend shop # ours
  # the first
  server a 127.0.0.1:1 weight 10
  server b 127.0.0.1:2
backend other
  server c 127.0.0.1:3
"""


def taken_back(before: str, after: str, now: str) -> str:
    documents = (Document.parse(HEAD % number + text) for number, text in enumerate((now, before, after), 3))
    return revert_change(*documents).text.partition("\n")[2]


def test_byte_for_byte_where_nothing_came_later() -> None:
    after = TEXT.replace("  # the first\n", "").replace("weight 10", "weight 20")
    assert taken_back(TEXT, after, after) == TEXT


def test_our_banner_is_no_change() -> None:
    banner = "# Dataplaneapi managed File\n# changing file directly can cause a conflict if dataplaneapi is running\n"
    after = TEXT.replace("weight 10", "weight 20")
    assert taken_back(TEXT, banner + after, banner + after) == banner + TEXT
    assert taken_back(TEXT, banner + after, banner + TEXT) == banner + TEXT


def test_later_changes_stay() -> None:
    after = TEXT.replace("weight 10", "weight 20")
    now = after.replace("127.0.0.1:3", "127.0.0.1:3 check") + "backend new\n"
    assert taken_back(TEXT, after, now) == now.replace("weight 20", "weight 10")


def test_a_line_below_a_section_that_goes_stays_in_no_other() -> None:
    after = TEXT + "backend new\n  server d 127.0.0.1:4\n"
    with pytest.raises(Conflict, match="backend/new has been changed since"):
        taken_back(TEXT, after, after + "  server e 127.0.0.1:5\n")
    assert taken_back(TEXT, after, after + "backend newer\n") == TEXT + "backend newer\n"


def test_two_members_of_one_line() -> None:
    after = TEXT.replace("weight 10", "weight 20")
    now = after.replace("127.0.0.1:1", "127.0.0.9:1")
    assert taken_back(TEXT, after, now) == now.replace("weight 20", "weight 10")


def test_servers_beside_each_other() -> None:
    after = TEXT.replace("127.0.0.1:2\n", "127.0.0.1:2\n  server d 127.0.0.1:4\n")
    now = after.replace("127.0.0.1:4\n", "127.0.0.1:4\n  server e 127.0.0.1:5\n")
    assert taken_back(TEXT, after, now) == TEXT.replace("127.0.0.1:2\n", "127.0.0.1:2\n  server e 127.0.0.1:5\n")


def test_a_section_comes_back() -> None:
    after = TEXT.partition("backend other")[0]
    assert taken_back(TEXT, after, after) == TEXT


def test_what_was_taken_back_already() -> None:
    after = TEXT.replace("weight 10", "weight 20")
    assert taken_back(TEXT, after, TEXT) == TEXT


def test_a_collision_names_both_sides() -> None:
    after, now = TEXT.replace("weight 10", "weight 20"), TEXT.replace("weight 10", "weight 30")
    with pytest.raises(Diverged) as raised:
        taken_back(TEXT, after, now)
    assert "weight of backend/shop/server/a is 30 by now, not 20" in raised.value.detail
    assert [(each.theirs, each.mine) for each in raised.value.clashes] == [(30, 10)]


def test_files() -> None:
    assert reverted_content("m", b"a\nb\nc\n", b"a\n", b"a\nb\n") == b"a\nc\n"
    assert reverted_content("m", b"new", None, b"new") is None and reverted_content("m", None, b"old\xff", None) == b"old\xff"
    assert reverted_content("m", None, None, b"new") is None
    for now in (None, b"else\n"):
        with pytest.raises(Conflict, match="m has been"):
            reverted_content("m", now, b"old\n", b"new\n")


def test_a_collision_shows_no_secret() -> None:
    """Nor do lines; of a file that is one as a whole, nothing."""
    before, after, now = (f"userlist u\n  user a insecure-password hunter{number}\n" for number in range(3))
    with pytest.raises(Conflict) as raised:
        taken_back(before, after, now)
    assert "hunter" not in raised.value.detail and raised.value.detail.count("<masked>") == 2
    for is_shown in (True, False):
        with pytest.raises(Conflict) as raised:
            reverted_content("m", b"stats auth a:hunter2\n", b"stats auth a:hunter0\n", b"stats auth a:hunter1\n", is_shown=is_shown)
        assert "hunter" not in raised.value.detail and ("<masked>" in raised.value.detail) == is_shown
