"""Reasons of reloads, added up."""

from typing import Any

from haproxy_native.reload.records import Advice, ReloadRecord, advise

BY_MAP = {"section": "frontend web", "line": 7, "keyword": "use_backend", "reason": "only by a reload", "remedy": "use a map"}
SERVER = {"section": "backend app", "line": 9, "keyword": "server", "reason": "server s1: rise cannot be changed"}
OTHER = {"reason": "HAProxy does not run"}


def record(number: int, *reasons: dict[str, Any]) -> ReloadRecord:
    return ReloadRecord(f"2026-11-21-{number}", 0, reasons=reasons)


def test_nothing_yet() -> None:
    assert advise([]) == (0, [])
    assert advise([record(1)]) == (0, []), "a forced reload needs no advice"


def test_the_most_frequent_first_each_reload_once() -> None:
    again = {**BY_MAP, "line": 8}
    records = [
        record(1, SERVER),
        record(2, BY_MAP, again),
        record(3, again, SERVER),
        record(4, {**SERVER, "reason": "another"}),
        record(5, OTHER),
    ]
    assert advise(records) == (
        5,
        [
            Advice(60, 3, "server lines", "", "2026-11-21-4", {**SERVER, "reason": "another"}),
            Advice(40, 2, "use_backend: only by a reload", "use a map", "2026-11-21-3", again),
            Advice(20, 1, "HAProxy does not run", "", "2026-11-21-5", OTHER),
        ],
    )


def test_what_one_edit_ends_is_one_cause() -> None:
    """Reasons have names in their words; without an edit their keyword counts, and those without a keyword are what they say."""
    named = {"keyword": "backend", "reason": "the section was removed, and /a in map a.map names it", "remedy": "delete the entries"}
    other = {**named, "reason": "the section was removed, and /b in map b.map names it"}
    gone = {"keyword": "backend", "reason": "the section was removed, and it was in a conditional block"}
    found = advise([record(1, named), record(2, other), record(3, gone), record(4, OTHER), record(5, {"reason": "another"})])[1]
    assert [(each.reloads, each.cause, each.remedy) for each in found] == [
        (2, "backend: the section was removed, and /b in map b.map names it", "delete the entries"),
        (1, "backend lines", ""),
        (1, "HAProxy does not run", ""),
        (1, "another", ""),
    ]
