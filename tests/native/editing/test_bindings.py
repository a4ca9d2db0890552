"""Which defaults section a proxy is bound to."""

import pytest

from haproxy_native.editing.bindings import all_implicit, check_from, with_named_source
from haproxy_native.errors import BadValue
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
    assert all_implicit(DOCUMENT) == [None, None, None, "b", None, "unnamed_defaults_1", "unnamed_defaults_1", "unnamed_defaults_1"]


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
    assert all_implicit(document) == [None, "a", None, "a_2"]
    named = with_named_source(document, "a_2")
    assert named.data == document.data.replace(b"defaults 'a' # tcp", b"defaults a_2 # tcp")
    assert named.names() == document.names()
    assert with_named_source(document, "a") is document
