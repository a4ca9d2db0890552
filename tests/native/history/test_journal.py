import random
import sqlite3
from dataclasses import replace
from hashlib import sha256
from itertools import islice
from pathlib import Path

import pytest

from haproxy_native.commit.change import Content, MemberChange
from haproxy_native.disk.database import State
from haproxy_native.errors import NotFound
from haproxy_native.history.entries import CONFIGURATION, FILE, RUNTIME, Entry, Record, Refusal, ReloadOutcome
from haproxy_native.history.journal import TABLES, Journal, Limits
from haproxy_native.reload.records import KEPT, TAKEN_BACK
from haproxy_native.request_context import Author
from tests.databases import connected

KEY = b"-----BEGIN PRIVATE KEY-----\nMIG\n-----END PRIVATE KEY-----\n"
ANN, BOB = Author("ann", "192.0.2.1", "r-1", "why", "revert/3"), Author("bob")


def opened(directory: Path, limits: Limits | None = None) -> Journal:
    """The history in a database of its own."""
    state = State(directory)
    for tables in TABLES:
        (state.keys if tables.are_keys else state).create([tables])
    return Journal(state, limits or Limits())


def of_configuration(number: int, author: Author = ANN, *, object_: str = "backend/shop", reload_id: str | None = None) -> Record:
    before, after = (b"version %d\n" % each for each in (number, number + 1))
    entry = Entry(float(number), number, CONFIGURATION, "live", author, reload_id=reload_id)
    return Record(entry, [Content("", "/etc/haproxy.cfg", before, after)], (), [object_])


def of_key(number: int) -> Record:
    return Record(Entry(float(number), 1, FILE, "live", ANN), [Content("certificate/a.pem", "/certs/a.pem", None, KEY + b"%d" % number)])


def test_what_was_added_is_read(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    assert journal.last is None
    first = journal.add(of_configuration(1))
    second = journal.add(
        Record(
            Entry(2.0, 1, RUNTIME, "runtime", BOB), (), [MemberChange("backend/shop/server/a", "weight", 1, 2)], ["backend/shop/server/a"]
        )
    )
    entry = journal.get(first)
    assert (entry.author, entry.kind, entry.time, entry.version, entry.parent) == (ANN, CONFIGURATION, 1.0, 1, None)
    assert journal.get(second).parent == first == 1 and journal.last == second
    assert journal.members(second) == [MemberChange("backend/shop/server/a", "weight", 1, 2)]
    assert journal.contents(first) == [Content("", "/etc/haproxy.cfg", b"version 1\n", b"version 2\n")]
    journal._state.close()
    again = opened(tmp_path)
    assert again.get(first) == entry and again.objects(first) == ["backend/shop"]
    with pytest.raises(NotFound, match="no entry 77"):
        again.get(77)


def test_finding(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    for number, name in enumerate(("backend/shop", "backend/shop/server/a", "backend/shopping", "frontend/web", "backend/b%2Fc")):
        journal.add(of_configuration(number, ANN if number % 2 else BOB, object_=name))
    found = lambda *given: [entry.id for entry in journal.find(*given)]  # noqa: E731
    assert found() == [5, 4, 3, 2, 1] and found("backend/shop") == [2, 1] and found("backend/shop/server/a") == [2]
    assert found("backend/*") == [5, 3, 2, 1] and found("**") == [5, 4, 3, 2, 1] and found("backend/none") == []
    assert found("", "ann") == [4, 2] and found("", "", 1.0, 3.0) == [4, 3, 2] and found("", "", None, None, 3) == [2, 1]
    journal.add_effects(4, [{"object": "backend/shop/server/b"}], ["backend/shop/server/b"], {}, "")
    assert found("backend/shop") == [4, 2, 1] and journal.effects(4) == [{"object": "backend/shop/server/b"}]
    assert [id_ for id_, _ in journal.without_effects()] == [1, 2, 3, 5] and journal.effects(1) is None


def test_a_name_that_is_not_in_utf_8(tmp_path: Path) -> None:
    """As a hand may write it into the configuration, and a client into a query."""
    journal, name = opened(tmp_path), b"userlist/l/user/\xff\xc3\xa9".decode("utf-8", "surrogateescape")
    added = journal.add(of_configuration(1, Author(name), object_=name))
    journal.add_effects(added, [{"object": name}], [f"{name}/x"], {}, "")
    assert [each.id for each in journal.find(name, name)] == [added] and not list(journal.find("\udcfe"))
    assert journal.objects(added)[0] == "userlist/l/user/\\udcff\u00e9"


def test_a_damaged_database(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    for number in range(3):
        journal.add(of_configuration(number))
    journal._state.close()
    with connected(tmp_path / "state.db") as database:
        database.execute("UPDATE content SET data = substr(data, 3)")
        database.execute("UPDATE begun SET members = x'00'")
    again = opened(tmp_path)
    with pytest.raises(sqlite3.DatabaseError, match="is damaged"):
        again.contents(2)
    with pytest.raises(sqlite3.DatabaseError, match="is damaged"):
        again.members(2)


def test_more_objects_than_a_statement_takes_values(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    journal.add_effects(journal.add(of_configuration(1)), [], [f"backend/b{number:05}" for number in range(40_000)], {}, "")
    journal.add_effects(journal.add(of_configuration(2)), [], ["backend/z"], {}, "")
    assert [entry.id for entry in journal.find("backend/z*")] == [2] and [entry.id for entry in journal.find("backend/*")] == [2, 1]


def test_a_file_at_a_moment(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    for number in (1, 2):
        journal.add(of_configuration(number))
    journal.add(of_key(3))
    at = lambda entry, path, **given: journal.at(entry, path, **given)  # noqa: E731
    assert at(1, "/etc/haproxy.cfg").after == b"version 2\n" and at(3, "/etc/haproxy.cfg").after == b"version 3\n"
    assert (
        at(1, "/etc/haproxy.cfg", before=True).before == b"version 1\n" and at(3, "/etc/haproxy.cfg", before=True).before == b"version 3\n"
    )
    assert at(1, "/certs/a.pem").after is None and at(3, "/certs/a.pem").after == KEY + b"3" and at(1, "/elsewhere") is None
    assert journal.paths() == ["/certs/a.pem", "/etc/haproxy.cfg"]


def test_what_a_file_held_before_all_entries(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    for content in (Content("map/a", "/maps/a", b"first\n", b"second\n"), Content("map/a", "/maps/a", b"later\n", None)):
        journal.add_first(content)
    journal.add_first(Content("certificate/b.pem", "/certs/b.pem", KEY, None))
    journal.add_first(Content("map/none", "/maps/none", None, b"new\n"))
    assert journal.last is None and journal.paths() == ["/certs/b.pem", "/maps/a", "/maps/none"] and list(journal.find()) == []
    added = journal.add(of_key(3))
    assert journal.at(0, "/maps/a").after == journal.at(added, "/maps/a").after == b"first\n"
    assert journal.at(added, "/certs/b.pem").after == KEY and journal.at(added, "/maps/none").after is None
    journal._state.close()
    assert b"PRIVATE" not in (tmp_path / "state.db").read_bytes()


def test_keys_stand_apart_and_nobody_else_reads_them(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    entry = journal.add(of_key(1))
    journal._state.close()
    assert b"PRIVATE" not in (tmp_path / "state.db").read_bytes()
    assert {each.stat().st_mode & 0o777 for each in tmp_path.iterdir()} == {0o600}
    assert opened(tmp_path).contents(entry)[0].after == KEY + b"1"


def test_a_copy_that_was_put_back_is_nobody_else_s_to_read(tmp_path: Path) -> None:
    opened(tmp_path)._state.close()
    for name in ("state.db", "keys.db"):
        (tmp_path / name).chmod(0o644)
    opened(tmp_path)._state.close()
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in ("state.db", "keys.db")} == {0o600}


def test_a_key_that_is_not_kept_any_more(tmp_path: Path) -> None:
    journal = opened(tmp_path, Limits(size_of_keys=1))
    for number in range(100):
        journal.add(of_key(number))
    journal.prune(0.0)
    with pytest.raises(NotFound, match=r"the contents of /certs/a\.pem at entry 1 are no longer stored"):
        journal.contents(1)
    assert journal.contents(100)[0].after == KEY + b"99"


def test_what_others_keep_in_the_database_of_keys_costs_no_entry_its_key(tmp_path: Path) -> None:
    journal = opened(tmp_path, Limits(size_of_keys=1 << 20))
    journal.add(of_key(1))
    journal._state.keys.execute("CREATE TABLE staged AS SELECT zeroblob(1 << 21) AS data")
    journal.prune(0.0)
    assert journal.contents(1)[0].after == KEY + b"1"


def test_an_entry_that_was_not_written_leaves_no_key_to_the_next(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    record = of_key(1)
    with pytest.raises(sqlite3.Error):
        journal.add(Record(record.entry, [*record.contents, *record.contents]))
    assert journal.add(of_configuration(1)) == 1 and journal.add(of_key(5)) == 2
    assert journal.contents(2)[0].after == KEY + b"5"


def test_outcomes_of_reloads(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    journal.add(of_configuration(1, reload_id="2026-1"))
    assert journal.outcome("2026-1") is None and journal.without_outcome() == ["2026-1"]
    failed = ReloadOutcome("2026-1", 9.0, "failed", {1: KEPT, 2: TAKEN_BACK}, "2026-2")
    journal.add_outcome(failed)
    assert journal.without_outcome() == [] and journal.outcome("2026-1") == failed
    assert journal.outcome_of(journal.get(1)) is None, "the reload of what was kept has not ended"
    journal.add(of_configuration(2, reload_id="2026-1"))
    journal.add(of_configuration(3, reload_id="2026-2"))
    journal.add_outcome(loaded := ReloadOutcome("2026-2", 10.0, "succeeded"))
    assert [journal.outcome_of(journal.get(entry)) for entry in (1, 2, 3)] == [loaded, failed, loaded]
    entry = journal.add(of_configuration(4))
    assert journal.outcome_of(journal.get(entry)) is None
    journal.add_forced(entry, "2026-3")
    assert journal.without_outcome() == ["2026-3"]
    journal.add_outcome(forced := ReloadOutcome("2026-3", 11.0, "failed", {entry: TAKEN_BACK}))
    assert journal.outcome_of(journal.get(entry)) == forced and journal.without_outcome() == []


def test_refusals_are_limited_by_number(tmp_path: Path) -> None:
    journal = opened(tmp_path, Limits(refusals=3))
    for number in range(5):
        journal.add_refusal(Refusal(float(number), BOB, "map/a", f"reason {number}"))
    assert [each.reason for each in journal.refusals()] == ["reason 4", "reason 3", "reason 2"]
    assert next(journal.refusals()).author == BOB


@pytest.mark.parametrize("limits", [Limits(entries=50), Limits(seconds=49.5), Limits(size=1)])
def test_old_entries_go(tmp_path: Path, limits: Limits) -> None:
    journal = opened(tmp_path, limits)
    for number in range(1, 101):
        journal.add(of_configuration(number, reload_id=f"r-{number}"))
        journal.add_outcome(ReloadOutcome(f"r-{number}", 1.0, "succeeded"))
    journal.prune(100.0)
    left = [entry.id for entry in journal.find()]
    assert left == (list(range(100, 50, -1)) if limits.size > 1 else [100])
    assert journal.contents(100)[0].after == b"version 101\n" and journal.outcome("r-100") and not journal.outcome("r-1")
    with pytest.raises(NotFound):
        journal.get(1)


@pytest.mark.soak
def test_ten_thousand_versions_of_a_megabyte(tmp_path: Path) -> None:
    """Each comes back byte for byte, and they take 100 MB together."""
    chance = random.Random(2026)
    backends = [
        f"backend b{number}\n" + "".join(f"  server s{each} 10.0.0.{each}:80 weight {chance.randrange(257)}\n" for each in range(5)) + "\n"
        for number in range(5500)
    ]
    journal, digests = opened(tmp_path, Limits(entries=20_000)), list[bytes]()
    before = "".join(backends).encode()
    assert len(before) > 1_000_000
    for number in range(10_000):
        for _ in range(chance.choice([1, 1, 1, 3])):
            place = chance.randrange(len(backends))
            backends[place] = backends[place].replace(":80 weight ", f":{chance.randrange(1, 9999)} weight ", 1)
        after = f"# _version={number}\n{''.join(backends)}".encode()
        record = Record(
            Entry(float(number), number, CONFIGURATION, "live", ANN),
            [Content("", "/etc/haproxy.cfg", before, after)],
            (),
            [f"backend/b{place}"],
        )
        journal.add(record)
        digests.append(sha256(after).digest())
        before = after
    assert len(list(islice(journal.find("backend/b7"), 100))) <= 100
    for number in chance.sample(range(10_000), 200):
        found = journal.contents(number + 1)[0].after
        assert found and sha256(found).digest() == digests[number]
    journal._state.close()
    size = sum(each.stat().st_size for each in tmp_path.iterdir())
    print(f"{size / 1e6:.0f} MB")
    assert size < 100_000_000


def test_no_limit_deletes_an_entry_that_has_begun(tmp_path: Path) -> None:
    journal = opened(tmp_path, Limits(entries=1, size_of_keys=1))
    key = of_key(1)
    begun = journal.add(replace(key, entry=replace(key.entry, outcome="")))
    for number in range(2, 6):
        journal.add(of_key(number))
    journal.prune(0.0)
    assert journal.open() == [begun] and journal.contents(begun)
    journal.end(begun, "live", None)
    journal.prune(0.0)
    assert [each.id for each in journal.find()] == [begun + 4]
