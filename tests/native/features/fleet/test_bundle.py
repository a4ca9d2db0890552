import pytest

from haproxy_native.features.fleet.bundle import packed, unpacked

FILES = {("maps", "a.map"): b"a 1\n", ("general", "x"): b"\0\xff\n", ("maps", ""): b""}


def test_what_was_packed_is_unpacked() -> None:
    assert unpacked(packed(b"global\n", FILES)) == (b"global\n", FILES)
    assert unpacked(packed(b"", {})) == (b"", {})


def test_the_order_of_files_makes_no_difference() -> None:
    assert packed(b"t", FILES) == packed(b"t", dict(reversed(FILES.items())))


@pytest.mark.parametrize("data", [b"", b"global\n  maxconn 1\n"])
def test_a_text_alone_is_not_unpacked(data: bytes) -> None:
    with pytest.raises(ValueError, match="Expecting value"):
        unpacked(data)
