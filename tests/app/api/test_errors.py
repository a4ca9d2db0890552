"""The border from the library's errors to answers is total."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from dataplaneapi.api.errors import STATUS, ApiError, response_to, status_of
from haproxy_native import errors as native
from haproxy_native.errors import NativeError, Place


def tree(kind: type[NativeError]) -> Iterator[type[NativeError]]:
    yield kind
    for below in kind.__subclasses__():
        yield from tree(below)


ALL = [kind for kind in tree(NativeError) if kind.__module__ == native.__name__]


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_each_error_has_a_status_of_its_own(kind: type[NativeError]) -> None:
    assert kind in STATUS


@pytest.mark.parametrize("kind", [kind for kind in ALL if kind is not NativeError], ids=lambda kind: kind.__name__)
def test_the_docstring_names_the_status(kind: type[NativeError]) -> None:
    assert f"HTTP {STATUS[kind]}." in (kind.__doc__ or "")


def test_the_table_names_nothing_else() -> None:
    assert set(STATUS) == set(ALL)


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (native.Missing("backend b does not exist"), 404, "missing object: backend b does not exist"),
        (native.NoTransaction("x"), 400, "transaction does not exist: x"),
        (native.Exists("backend b already exists"), 409, "object already exists: backend b already exists"),
        (
            native.IndexOutOfRange("Object with id 9 in backend b out of range"),
            400,
            "index out of range: Object with id 9 in backend b out of range",
        ),
        (
            native.Conflict("version in configuration file is 2, given version is 1"),
            409,
            "version mismatch: version in configuration file is 2, given version is 1",
        ),
        (
            native.NotCommittable("transaction x is outdated and cannot be committed"),
            406,
            "transaction x is outdated and cannot be committed",
        ),
        (native.CheckImpossible("haproxy: not found", reason="missing"), 503, "validation error: haproxy: not found"),
        (native.RuntimeAbsent("no socket"), 503, "no socket"),
        (native.RuntimeRefused("No such server.", "set weight"), 400, "No such server. [set weight]"),
        (native.TooManyTransactions("full"), 429, "full"),
        (ApiError(415, "send JSON"), 415, "send JSON"),
    ],
)
def test_answers(error: Exception, status: int, message: str) -> None:
    answer = response_to(error)
    assert (answer.status_code, answer.value) == (status, {"code": status, "message": message})


HOSTILE = ["a" * 5000, "'" * 5000, '"' * 5000, f"backend '{'b ' * 2000}' does not exist", "x; " * 3000, "\N{SNOWMAN}" * 3000]


@pytest.mark.parametrize("detail", HOSTILE, ids=lambda detail: detail[:12])
@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_the_first_line_of_every_message_is_short(kind: type[NativeError], detail: str) -> None:
    needed: dict[str, str] = {"reason": "failed"} if kind is native.CheckImpossible else {}
    if issubclass(kind, native.RuntimeRefused):
        needed["command"] = detail
    for error in (kind(detail, **needed), ApiError(422, f"name in body: {detail}\nmore")):
        first, _, rest = str(response_to(error).value["message"]).partition("\n")
        assert len(first) <= 300
        assert not isinstance(error, ApiError) or rest.endswith("more")


def test_a_subclass_made_elsewhere_has_the_status_of_its_base() -> None:
    class Elsewhere(native.Conflict):
        pass

    assert status_of(Elsewhere("x")) == 409


def test_our_own_faults_are_500_and_tell_no_details() -> None:
    answer = response_to(KeyError("secret"))
    assert answer.status_code == 500
    assert b"secret" not in answer.body


def test_alerts_and_places_are_members() -> None:
    @dataclass
    class Alert:
        line: int
        text: str
        section: str | None = None

    body = response_to(native.Refused("exit status 1", alerts=[Alert(3, "unknown keyword")], place=Place(line=3))).value
    assert body["alerts"] == [{"line": 3, "text": "unknown keyword"}]
    assert body["place"] == {"line": 3}
