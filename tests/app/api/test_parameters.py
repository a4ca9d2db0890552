"""Parameters from their text to values."""

from typing import Any

import pytest

from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.parameters import Parameter, check, convert, query_values

VERSION = Parameter("version", "query", kind="integer")
FORCE = Parameter("force_reload", "query", kind="boolean")
TRANSACTION = Parameter("transaction_id", "query")
STATUS = Parameter("status", "query", choices=("failed", "in_progress"))
REQUIRED = Parameter("resolver", "query", required=True)
PERIOD = Parameter("period", "query", kind="integer", minimum=1)
TYPES = Parameter("type", "query", repeated=True, choices=("a", "b"))
PARENT = Parameter("parent_name", "path", required=True, pattern='^[^\\r\\n<>*;$#&{}"]+$')
INDEX = Parameter("index", "path", required=True, kind="integer")
ACTIONS = Parameter("X-Runtime-Actions", "header")


WAIT = Parameter("wait", "query", kind="duration", longest=600)
CONFIRM = Parameter("confirm", "query", kind="duration", guards=True)


def values(parameter: Parameter, query: str = "", headers: list[tuple[bytes, bytes]] | None = None, **path: str) -> dict[str, Any]:
    found = convert([parameter], path, query_values(query.encode()), headers or [])
    check([parameter], found)
    return found


@pytest.mark.parametrize(
    ("parameter", "query", "found"),
    [
        (VERSION, "version=7", {"version": 7}),
        (VERSION, "version=-1", {"version": -1}),
        (VERSION, "version=%2B1", {"version": 1}),
        (VERSION, "nonsense=1", {}),
        (FORCE, "force_reload=T", {"force_reload": True}),
        (FORCE, "force_reload=False", {"force_reload": False}),
        (FORCE, "force_reload=0", {"force_reload": False}),
        (WAIT, "wait=30", {"wait": 30.0}),
        (WAIT, "wait=1m30s", {"wait": 90.0}),
        (WAIT, "wait=600", {"wait": 600.0}),
        (WAIT, "wait=", {}),
        (TRANSACTION, "transaction_id=", {}),
        (TRANSACTION, "transaction_id=a%20b+c", {"transaction_id": "a b c"}),
        (REQUIRED, "resolver=", {"resolver": ""}),
        (STATUS, "status=failed", {"status": "failed"}),
        (TYPES, "type=a,b&type=a", {"type": ["a", "b", "a"]}),
        (Parameter.of({"name": "transaction_id", "in": "query", "x-guards": "sidecar"}), "transaction_id=", {}),
    ],
)
def test_conversion(parameter: Parameter, query: str, found: dict[str, Any]) -> None:
    assert values(parameter, query) == found


@pytest.mark.parametrize(
    ("parameter", "query", "said"),
    [
        (CONFIRM, "confirm=", "confirm in query is empty: give it a value, or leave it out"),
        (VERSION, "version=abc", 'Invalid format for parameter version: "abc" is not an integer of 64 bits'),
        (VERSION, "version=1.5", 'Invalid format for parameter version: "1.5" is not an integer of 64 bits'),
        (VERSION, "version=", 'Invalid format for parameter version: "" is not an integer of 64 bits'),
        (
            VERSION,
            "version=99999999999999999999",
            'Invalid format for parameter version: "99999999999999999999" is not an integer of 64 bits',
        ),
        (VERSION, "version=" + "9" * 5000, "Invalid format for parameter version: "),
        (VERSION, "version=%D9%A3", "Invalid format for parameter version: "),
        (VERSION, "version=1&version=1", "Invalid format for parameter version: multiple values for single value parameter 'version'"),
        (FORCE, "force_reload=yes", 'Invalid format for parameter force_reload: "yes" is not one of true, false, 1, 0, t, f'),
        (FORCE, "force_reload=", "Invalid format for parameter force_reload: "),
        (REQUIRED, "", "Query argument resolver is required, but not found"),
        (STATUS, "status=outdated", 'status in query: value is not one of the allowed values ["failed","in_progress"]'),
        (PERIOD, "period=0", "period in query: number must be at least 1"),
        (TYPES, "type=a,c", 'type in query: value is not one of the allowed values ["a","b"]'),
    ],
)
def test_what_is_refused(parameter: Parameter, query: str, said: str) -> None:
    with pytest.raises(ApiError) as error:
        values(parameter, query)
    assert error.value.status == 400
    assert error.value.message.startswith(said)


def test_path_values() -> None:
    assert values(INDEX, index="-1") == {"index": -1}
    assert values(PARENT, parent_name="a/b ü") == {"parent_name": "a/b ü"}
    with pytest.raises(ApiError, match="Invalid format for parameter index"):
        values(INDEX, index="1.0")


@pytest.mark.parametrize("name", ["ap;p", 'ap"p', "a\n"])
def test_path_patterns(name: str) -> None:
    with pytest.raises(ApiError) as error:
        values(PARENT, parent_name=name)
    assert error.value.message == 'parent_name in path: string doesn\'t match the regular expression "^[^\\r\\n<>*;$#&{}"]+$"'


def test_headers() -> None:
    assert values(ACTIONS, headers=[(b"x-runtime-actions", b"a;b")]) == {"X-Runtime-Actions": "a;b"}
    assert values(ACTIONS) == {}
    with pytest.raises(ApiError, match="Expected one value for X-Runtime-Actions, got 2"):
        values(ACTIONS, headers=[(b"x-runtime-actions", b"a")] * 2)


def test_declarations() -> None:
    declared = {"name": "type", "in": "query", "required": True, "schema": {"type": "array", "items": {"type": "string", "enum": ["a"]}}}
    assert Parameter.of(declared) == Parameter("type", "query", required=True, choices=("a",), repeated=True)
    assert Parameter.of({"name": "n", "in": "path", "schema": {"type": "integer", "minimum": 0}}) == Parameter(
        "n", "path", kind="integer", minimum=0
    )
