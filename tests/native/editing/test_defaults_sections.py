"""Which defaults section a proxy inherits from, and edits that would change that."""

import pytest

from haproxy_native.editing.defaults_sections import all_implicit_defaults, check_from, rebound, refuse_rebound, with_named_source
from haproxy_native.errors import BadValue, Refused
from haproxy_native.text.document import Document

DOCUMENT = Document.parse(b"""backend early
defaults a
defaults b from a
frontend x
defaults
backend b
backend c from a
listen l
""")


def test_what_is_bound_without_a_word() -> None:
    assert all_implicit_defaults(DOCUMENT) == [
        None,
        None,
        None,
        "b",
        None,
        "unnamed_defaults_1",
        "unnamed_defaults_1",
        "unnamed_defaults_1",
    ]


@pytest.mark.parametrize(
    ("kind", "name", "wanted", "said"),
    [
        ("backend", "new", "a", None),
        ("backend", "b", "b", None),
        ("backend", "new", None, None),
        ("backend", "new", "unnamed_defaults_1", None),
        ("defaults", "new", "b", None),
        ("backend", "new", "none", "Object new references missing defaults section in from"),
        ("defaults", "a", "b", "circular dependency detected: defaults a would inherit from itself"),
        ("defaults", "new", "new", "circular dependency detected: defaults new would inherit from itself"),
    ],
)
def test_what_from_may_name(kind: str, name: str, wanted: str | None, said: str | None) -> None:
    if said is None:
        check_from(DOCUMENT, kind, name, wanted)
        return
    with pytest.raises(BadValue, match=said):
        check_from(DOCUMENT, kind, name, wanted)


def test_a_nameless_section_that_is_to_be_named_gets_its_number() -> None:
    document = Document.parse(b"defaults\nfrontend x\n\ndefaults # tcp\n  mode tcp\ndefaults\n")
    named = with_named_source(document, "unnamed_defaults_2")
    assert named.data == document.data.replace(b"defaults # tcp", b"defaults unnamed_defaults_2 # tcp")
    assert named.names() == document.names()
    assert with_named_source(DOCUMENT, "a") is with_named_source(DOCUMENT, None) is DOCUMENT


def test_a_repeated_section_that_is_to_be_named_gets_its_number() -> None:
    document = Document.parse(b"defaults a\nfrontend x\ndefaults 'a' # tcp\n  mode tcp\nbackend y\n")
    assert all_implicit_defaults(document) == [None, "a", None, "a_2"]
    named = with_named_source(document, "a_2")
    assert named.data == document.data.replace(b"defaults 'a' # tcp", b"defaults a_2 # tcp")
    assert named.names() == document.names()
    assert with_named_source(document, "a") is document


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
