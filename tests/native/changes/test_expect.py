"""What a change expects of the configuration that it is made on."""

import pytest

from haproxy_native.changes.expect import ANY, Expect, ExpectedObject, ExpectedText, Rebase, Version, find_value
from haproxy_native.changes.operations import Create, Delete, Patch, Replace
from haproxy_native.editing.object_names import ObjectPlace
from haproxy_native.editing.resources import resources
from haproxy_native.errors import ChangedSince, Collided, Conflict, Missing, Stale
from haproxy_native.text.document import Document

TEXT = "backend app\n  server one 127.0.0.1:1 weight 10\n  server two 127.0.0.1:2\n"
BASE = Document.parse(TEXT)
TABLE = resources()
SERVERS, APP = TABLE["servers"], (TABLE["backends"], "app")
ONE, TWO = (ObjectPlace(SERVERS, APP, name) for name in ("one", "two"))
LIGHTER = Document.parse(TEXT.replace("weight 10", "weight 5"))


@pytest.mark.parametrize(
    ("expect", "message"),
    [
        (Version(2), "version in configuration file is 3, given version is 2"),
        (Version(2, transaction="t"), "version mismatch, transaction version: 2, configured version: 3"),
        (ExpectedObject(ONE, {}, number=2), "version in configuration file is 3, given version is 2"),
    ],
)
def test_another_version_is_a_conflict(expect: Expect, message: str) -> None:
    with pytest.raises(Stale, match=message):
        expect.compare(3)


@pytest.mark.parametrize(
    "expect", [ANY, Version(3), Version(3, transaction="t"), Rebase(2), ExpectedObject(ONE, {}), ExpectedText("", b"")]
)
def test_what_is_compared_with_no_version_or_the_current_one(expect: Expect) -> None:
    expect.compare(3)


def test_a_version_stands_for_one_text() -> None:
    assert Version(1, base=BASE).apply([Delete(ONE)], Document.parse(TEXT)).text.count("server") == 1
    with pytest.raises(Stale):
        Version(1, base=BASE).apply([Delete(ONE)], LIGHTER)


def test_what_was_seen_has_to_be_there_still() -> None:
    expect = ExpectedObject(ONE, find_value(BASE, ONE))
    assert "weight 7" in expect.apply([Patch(ONE, {"weight": 7})], BASE).text
    for there in (LIGHTER, BASE):
        with pytest.raises(ChangedSince):
            (expect if there is LIGHTER else ExpectedObject(ONE, None)).apply([Patch(ONE, {"weight": 7})], there)
    with pytest.raises(Missing):
        expect.apply([Patch(ONE, {"weight": 7})], Document.parse("backend app\n"))


def test_a_text_that_was_seen() -> None:
    assert ExpectedText("", BASE.data).apply([Delete(ONE)], BASE).text.count("server") == 1
    with pytest.raises(ChangedSince):
        ExpectedText("", BASE.data).apply([Delete(ONE)], LIGHTER)


def test_what_came_between_stays() -> None:
    rebase = Rebase(1, BASE)
    body = {"name": "two", "address": "127.0.0.1", "port": 2, "weight": 3}
    assert [line.split()[-1] for line in rebase.apply([Replace(TWO, body)], LIGHTER).text.splitlines()[1:]] == ["5", "3"]
    new = Create(ObjectPlace(SERVERS, APP, ""), {"name": "three", "address": "127.0.0.1", "port": 3})
    assert rebase.apply([new], LIGHTER).text.count("server") == 3
    with pytest.raises(Collided, match="weight of backend/app/server/one"):
        rebase.apply([Patch(ONE, {"weight": 6})], LIGHTER)
    with pytest.raises(Conflict):
        rebase.apply([Delete(ONE)], LIGHTER)
