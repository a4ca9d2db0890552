import zlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from haproxy_native.history import contents
from haproxy_native.history.contents import applied, delta

LINES = st.lists(st.sampled_from([b"a\n", b"bb\n", b"# c\n", b"\n", b"d\r\n", b"\xff\0\n", b"e"]), max_size=30).map(b"".join)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(LINES, LINES)
def test_any_content_comes_back(old: bytes, new: bytes) -> None:
    assert applied(old, delta(old, new)) == new


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(LINES, LINES)
def test_lines_longer_than_the_window(old: bytes, new: bytes) -> None:
    window, contents.WINDOW = contents.WINDOW, 9
    try:
        assert applied(old, delta(old, new)) == new
    finally:
        contents.WINDOW = window


def test_few_bytes_for_scattered_changes() -> None:
    old = b"".join(b"server s%d 192.0.2.1:80 weight 1\n" % number for number in range(30_000))
    new = old.replace(b"s777 ", b"s777x ").replace(b"server s15000 192.0.2.1:80 weight 1\n", b"").replace(b"s29000 ", b"s ")
    assert len(delta(old, new)) < 200 and applied(old, delta(old, new)) == new


def test_what_is_damaged_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        applied(b"a\n", delta(b"a\nb\nc\nd\n", b"a\nb\nc\n"))
    with pytest.raises(zlib.error):
        applied(b"a\n", b"nonsense")
