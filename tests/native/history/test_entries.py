from pathlib import Path
from types import SimpleNamespace

import pytest

from haproxy_native.changes.file_operations import PutFile
from haproxy_native.changes.operations import SetRuntime
from haproxy_native.commit.change import Change, Content, MemberChange, Outcome, Texts
from haproxy_native.history.entries import CONFIGURATION, FILE, RUNTIME, record, sections
from haproxy_native.history.summaries import summary
from haproxy_native.request_context import NOBODY, Author
from haproxy_native.text.document import Document

ANN = Author("ann")
STORE = SimpleNamespace(kind="map", name="maps")
OLD, NEW = Document.parse("# _version=1\nbackend b\n"), Document.parse("# _version=2\nbackend b\n  # a comment\nlog-forward l\n")


async def never() -> Outcome:
    raise AssertionError


def test_a_change_of_the_configuration() -> None:
    made = record(Change([], author=ANN), Outcome(2, live=True, texts=Texts(OLD, NEW)), "/haproxy.cfg", 1, 5.0)
    assert (made.entry.kind, made.entry.version, made.entry.outcome, made.entry.author, made.entry.time) == (
        CONFIGURATION,
        2,
        "live",
        ANN,
        5.0,
    )
    assert made.contents == [Content("", "/haproxy.cfg", OLD.data, NEW.data)]
    assert made.objects == ["backend/b", "log_forward/l"], "comments count, and kinds are the API's"
    assert Change([], author=NOBODY).object == ""


def test_a_stored_file() -> None:
    content = Content("map/hosts.map", "/maps/hosts.map", None, b"a b\n")
    change = Change([PutFile(STORE, Path("/maps/hosts.map"))], author=ANN)
    made = record(change, Outcome(7, "r-1", contents=[content]), "/haproxy.cfg", 7, 5.0)
    assert (made.entry.kind, made.entry.outcome, made.entry.reload_id, made.contents) == (FILE, "scheduled", "r-1", [content])
    assert made.objects == ["map/hosts.map"] == [change.object]


def test_the_process_alone() -> None:
    change, member = Change([SetRuntime("backend/b/server/a", never)], author=ANN), MemberChange("backend/b/server/a", "weight", 1, 2)
    made = record(change, Outcome(7, live=True, lasting=False, members=[member]), "/haproxy.cfg", 7, 5.0)
    assert (made.entry.kind, made.entry.outcome, made.members, made.objects) == (RUNTIME, "runtime", [member], ["backend/b/server/a"])
    assert change.object == "backend/b/server/a"


def test_sections_that_differ() -> None:
    assert sections(OLD, OLD) == [] and sections(OLD, Document.parse("global\n")) == ["backend/b", "global"]


@pytest.mark.parametrize(
    ("effects", "text"),
    [
        ([], ""),
        ([("backend/b", "", None, {"name": "b"})], "create backend/b"),
        ([("backend/b", "", {"name": "b"}, None), ("backend/b/server/s", "", {}, None)], "delete backend/b and 1 more"),
        ([("backend/b/server/s", "weight", 10, 20)], "weight 10 → 20 on backend/b/server/s"),
        ([("b", "a", None, "x"), ("b", "c", 1, None), ("b", "d", {"e": 1}, {"e": 2})], 'a set to x, c removed, d {"e": 1} → {"e": 2} on b'),
        ([("b", name, 1, 2) for name in "acde"], "a 1 → 2, c 1 → 2, d 1 → 2 and 1 more on b"),
        ([("b", "a", "x" * 50, "y")], f"a {'x' * 39}… → y on b"),
        ([("map/m", "", "", "")], "change map/m"),
        ([("b/rule/0", "", {"a": 1}, None), ("b/rule/0", "", None, {"a": 2})], "a 1 → 2 on b/rule/0"),
        ([("b/rule/0", "", "x", None), ("b/rule/0", "", None, "y")], "change b/rule/0"),
        (
            [
                ("f/web", "default_backend", "a", "b"),
                ("backend/a", "", {"name": "a", "mode": "http"}, None),
                ("backend/b", "", None, {"name": "b", "mode": "http"}),
            ],
            "rename backend/a → b and 1 more",
        ),
        ([("backend/a", "", {"name": "a", "mode": "tcp"}, None), ("backend/b", "", None, {"name": "b"})], "delete backend/a and 1 more"),
        ([("users/a", "", {"username": "a"}, None), ("users/b", "", None, {"username": "b"})], "rename users/a → b"),
    ],
)
def test_a_summary(effects: list[tuple[str, str, object, object]], text: str) -> None:
    assert summary([dict(zip(("object", "member", "old", "new"), effect, strict=True)) for effect in effects], {}) == text
