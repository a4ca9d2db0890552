"""YAML as JSON values."""

import pytest

from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.yaml_bodies import of_yaml


def test_values() -> None:
    assert of_yaml(b"a: [1, x, null, true]\n1: {b: 'c'}\n") == {"a": [1, "x", None, True], "1": {"b": "c"}}


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [(b"a: [", 400, "line 1"), (b"a: &a [*a]", 422, "levels"), (b"a: 2026-01-01", 422, "put it in quotes"), (b"\xff", 400, "")],
)
def test_refusals(text: bytes, status: int, said: str) -> None:
    with pytest.raises(ApiError) as refused:
        of_yaml(text)
    assert (refused.value.status, said in refused.value.message) == (status, True), refused.value.message
