"""A defaults section that goes may bind nobody anew without a word."""

import pytest

from haproxy_native.editing.references import rebound, refuse_rebound
from haproxy_native.errors import Refused
from haproxy_native.text.document import Document

OLD = """\
defaults one
  mode http
backend first
defaults two
  mode tcp
backend second
backend named from one
"""
ROWS = [
    ("nothing", OLD, []),
    ("a section that others are bound to is gone", OLD.replace("defaults two\n  mode tcp\n", ""), [("backend second", "two")]),
    ("it is renamed", OLD.replace("defaults two", "defaults three"), []),
    ("the bound proxy goes along", OLD.replace("defaults two\n  mode tcp\nbackend second\n", ""), []),
    ("the bound proxy names another", OLD.replace("defaults two\n  mode tcp\nbackend second", "backend second from one"), []),
    ("a section that nobody is bound to", OLD.replace("defaults one", "defaults none\ndefaults one"), []),
    ("a new proxy in another place", OLD.replace("defaults two\n  mode tcp\nbackend second\n", "backend third\n"), []),
]


@pytest.mark.parametrize(("new", "lost"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_who_loses_its_defaults(new: str, lost: list[tuple[str, str]]) -> None:
    old, after = Document.parse(OLD.encode()), Document.parse(new.encode())
    assert rebound(old, after) == lost
    if not lost:
        return refuse_rebound(old, after)
    with pytest.raises(Refused, match="defaults section 'two' is still used: backend second has no `from`") as caught:
        refuse_rebound(old, after)
    assert caught.value.place
    assert caught.value.place.member == "from"


@pytest.mark.parametrize("name", ["", " a"])
def test_a_number_that_changes_is_no_loss(name: str) -> None:
    used = f"defaults{name}\n  mode tcp\nbackend b\n"
    old = Document.parse(f"defaults{name}\n  mode http\n{used}")
    assert rebound(old, Document.parse(used)) == []
    assert rebound(old, Document.parse(f"defaults{name}\n  mode http\nbackend b\n")) == [("backend b", old.names()[1])]
