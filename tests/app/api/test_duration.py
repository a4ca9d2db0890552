"""Durations in parameters."""

import pytest

from dataplaneapi.api.duration import seconds
from dataplaneapi.api.errors import ApiError


@pytest.mark.parametrize(("text", "expected"), [("10", 10), ("0", 0), ("10s", 10), ("1m30s", 90), ("250ms", 0.25)])
def test_seconds(text: str, expected: float) -> None:
    assert seconds("within", text) == expected


@pytest.mark.parametrize("text", ["soon", "-1", "1.5", "٣", "10 s"])
def test_what_is_none_is_named(text: str) -> None:
    with pytest.raises(ApiError, match="within: .* is not a duration") as caught:
        seconds("within", text)
    assert caught.value.status == 400
