"""Parse declared sections from objects and from text."""

import pytest

from haproxy_native.editing.editor import Editor
from haproxy_native.errors import BadRequest
from haproxy_native.features.apply.sections import collections, of_objects, of_text
from haproxy_native.text.document import Document

EDITOR = Editor()
TEXT = b"# ours\nbackend shop from base\n    balance source\n    server s 127.0.0.1:1 check weight 5\n\nglobal\n    maxconn 5\n"


def test_objects_and_text_say_the_same() -> None:
    declared, texts = of_text(EDITOR, TEXT)
    assert set(declared) == set(texts) == {("backends", "shop"), ("global", "")}
    bodies = [(EDITOR.resources[collection], object_) for (collection, _), object_ in declared.items()]
    assert of_objects(EDITOR, bodies, Document.parse(TEXT))[0] == declared


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("server s 127.0.0.1:1\n", "'server s 127.0.0.1:1' is outside of a section"),
        ("namespace_list\n    namespace a\n", "'namespace_list' cannot be owned"),
        ("backend a\n    unheard of\n", "no member for 'unheard of'"),
        ("backend a\n    .if feature(OPENSSL)\n    balance source\n    .endif\n", "the condition .* cannot be owned"),
        ("backend a\n    server s 127.0.0.1:1 weight heavy\n", "no member for 'weight heavy', in 'server s 127.0.0.1:1 weight heavy'"),
        ("backend a\n    server s 127.0.0.1:1 wieght 3\n", "no member for 'wieght 3', in"),
        ("backend a\n    server s 127.0.0.1:1 weight ${W}\n", r"no member for 'weight \$\{W\}', in"),
        ("backend a\n    timeout connect soon\n", "no member for 'timeout connect soon'"),
        ("backend a\nbackend a\n", "Backend a is declared twice"),
    ],
)
def test_what_cannot_be_owned(text: str, message: str) -> None:
    with pytest.raises(BadRequest, match=message):
        of_text(EDITOR, text.encode())


def test_twice() -> None:
    with pytest.raises(BadRequest, match="declared twice"):
        of_objects(EDITOR, [(EDITOR.resources["backends"], {"name": "a"})] * 2, Document.parse(TEXT))


def test_collections() -> None:
    assert {"backends", "frontends", "global", "defaults"} <= set(collections(EDITOR)) and "servers" not in collections(EDITOR)
