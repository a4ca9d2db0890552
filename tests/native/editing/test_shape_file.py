"""The file of shapes, taken off a document and put back."""

import pytest

from haproxy_native.editing.shape_file import is_shape, joined, parted, shapes_of
from haproxy_native.text import parts
from haproxy_native.text.document import Document
from haproxy_native.text.parts import SHAPES

MAIN = b"global\n\ndefaults base\n  mode http\n"


def document(*files: tuple[str, bytes]) -> Document:
    return Document.parse(parts.join([(parts.MAIN, MAIN), *files]))


@pytest.mark.parametrize("content", [b"", b"# words\n", b"# words\n\ndefaults shape-1\n  mode tcp\n\ndefaults shape-2\n"])
def test_taken_off_and_put_back(content: bytes) -> None:
    whole = document(("/conf/10-web.cfg", b"backend b\n"), (f"/conf/{SHAPES}", content))
    others, taken = parted(whole)
    assert [each.name for each in others.sections] == ["", "base", "/conf/10-web.cfg", "b"]
    assert all(map(is_shape, taken))
    assert [each.name for each in shapes_of(whole)] == [word.decode() for word in content.split() if word.startswith(b"shape-")]
    assert joined(others, taken).data == whole.data


def test_a_configuration_without_it_is_left_as_it_is() -> None:
    for whole in (document(), document(("/conf/10-web.cfg", b"backend b\n"))):
        assert parted(whole) == (whole, ())
        assert joined(whole, ()) is whole
        assert shapes_of(whole) == []
