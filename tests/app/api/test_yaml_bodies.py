"""YAML as JSON values."""

import pytest

from dataplaneapi.api import bodies
from dataplaneapi.api.bodies import of_yaml
from dataplaneapi.api.errors import ApiError

# Each list holds the one above it ten times.
TENFOLD = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 10))
MERGED = "a0: &a0 {x: 1}\n" + "".join(f"a{i}: &a{i} {{<<: [{','.join([f'*a{i - 1}'] * 10)}]}}\n" for i in range(1, 10))


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        (TENFOLD, 422, "more than 20000 values"),
        (TENFOLD + "b: !!pairs [x: *a9]\n", 422, "more than 20000 values"),
        (TENFOLD + "? *a9\n: 1\n", 400, "a key is a list or a mapping"),
        (MERGED, 400, "more than 100000 members are merged"),
        ("[" * 10_000, 400, "nested deeper than 64 levels"),
        ("x" * 1_000_001, 413, "maximum allowed size of 1000000 bytes"),
        (f"a: 0x{'f' * 6000}", 422, "more than 64 bits"),
        (f"? 0x{'f' * 6000}\n: 1", 422, "more than 64 bits"),
        (f"a: !!set {{? 0x{'f' * 6000}}}", 422, "is a set"),
        ("a: .inf", 422, "inf in body is not a JSON number"),
        ("a: !!bool x", 400, "cannot be read"),
        ("a: !!timestamp x", 400, "cannot be read"),
    ],
)
def test_hostile_text(text: str, status: int, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "MOST", 20_000)
    with pytest.raises(ApiError) as refused:
        of_yaml(text.encode())
    assert (refused.value.status, said in refused.value.message) == (status, True), refused.value.message


def test_merged_mappings() -> None:
    text = b"a: &a {x: 1, y: 1}\nb: &b {<<: *a, y: 2}\nc: {<<: [*b, {x: 3, z: 3}], z: 4}\n"
    assert of_yaml(text) == {"a": {"x": 1, "y": 1}, "b": {"x": 1, "y": 2}, "c": {"x": 1, "y": 2, "z": 4}}


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
