"""Transactions: private, surviving, counted, and cheap."""

import asyncio
import gc
import itertools
import os
import random
import signal
import stat
import threading
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from haproxy_native.changes.operations import ChangeText, PutDocument
from haproxy_native.disk.database import KEYS, Database
from haproxy_native.editing import header, patches
from haproxy_native.errors import BadValue, NoTransaction, TooManyTransactions, Unusable
from haproxy_native.request_context import NOBODY
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.section import Section
from haproxy_native.transactions import store
from haproxy_native.transactions.transactions import Transactions
from tests.native.transactions.processes import between, count, end, opened

TEXT = "# top\nglobal\n  maxconn 5\n\nbackend a\n  server s 127.0.0.1:1\n"
MISSING = "00000000-0000-4000-8000-000000000000"
STAGED = '{"store": "maps", "object": "map/a.map", "size": null, "before": null}'


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "haproxy.cfg").write_text(TEXT)
    (tmp_path / "haproxy.cfg").chmod(0o640)
    return tmp_path / "transactions"


@pytest.fixture
def transactions(directory: Path) -> Transactions:
    return opened(directory)


@pytest.fixture
def document() -> Document:
    return Document.parse(TEXT)


def adding(name: str) -> Callable[[Document], Document]:
    return lambda document: document.insert(Section("backend", name, f"backend {name}\n"))


def files(directory: Path) -> list[str]:
    return sorted(os.listdir(directory)) if directory.exists() else []


def changed(transactions: Transactions, id_: str, edit: Callable[[Document], Document]) -> Document:
    return asyncio.run(transactions.change(id_, edit, author=NOBODY))[1]


def test_a_transaction_is_private(transactions: Transactions, document: Document, directory: Path) -> None:
    first, second = transactions.start(document, 7, author=NOBODY), transactions.start(document, 7, author=NOBODY)
    after = changed(transactions, first.id, adding("b"))
    assert after.text == TEXT + "\nbackend b\n" == transactions.read(first.id).text
    assert transactions.read(second.id).text == TEXT == document.text
    assert first.as_dict() == {"_version": 7, "id": first.id, "status": "in_progress"}
    assert files(directory) == []
    assert (count(directory, "open_transaction"), count(directory, "transaction_change"), count(directory, "transaction_base")) == (2, 1, 1)


def test_its_text_has_a_header(transactions: Transactions, document: Document) -> None:
    first, second = transactions.start(document, 7, author=NOBODY), transactions.start(document, 7, author=NOBODY, banner=False)
    assert transactions.text(first.id) == header.with_header(document, 7, banner=True).data
    assert transactions.text(second.id) == header.with_header(document, 7, banner=False).data


def test_a_refused_text_is_as_open_as_the_configuration(transactions: Transactions, directory: Path) -> None:
    transactions.fail(MISSING, b"text", author=NOBODY)
    assert stat.S_IMODE((directory / "failed" / f"haproxy.cfg.{MISSING}").stat().st_mode) == 0o640


def test_all_survive_a_restart(transactions: Transactions, document: Document, directory: Path) -> None:
    kept, failed, outdated = (transactions.start(document, version, author=NOBODY) for version in (7, 8, 6))
    for name in ("b", "c", "d"):
        changed(transactions, kept.id, adding(name))
    changed(transactions, outdated.id, adding("o"))
    transactions.fail(failed.id, b"refused", author=NOBODY)
    transactions.outdate_older(6)
    states = [one.as_dict() for one in transactions.list(author=NOBODY)]
    assert {one["status"] for one in states} == {"in_progress", "failed", "outdated"}
    texts = {one.id: transactions.text(one.id) for one in transactions.list(author=NOBODY)}
    again = opened(directory)
    assert [one.as_dict() for one in again.list(author=NOBODY)] == states
    assert {one.id: again.text(one.id) for one in again.list(author=NOBODY)} == texts
    assert again.in_progress(kept.id).version == 7
    changed(again, kept.id, adding("e"))
    assert opened(directory).read(kept.id).text == TEXT + "".join(f"\nbackend {name}\n" for name in "bcde")
    assert (directory / "failed" / f"haproxy.cfg.{failed.id}").read_bytes() == b"refused"


def test_a_text_is_stored_once_and_goes_with_its_last_transaction(directory: Path) -> None:
    ids = [opened(directory).start(Document.parse(text), 1, author=NOBODY).id for text in ("global\n", "global\n", "global\n\n")]
    assert count(directory, "transaction_base") == 2
    for id_, left in zip(ids, (2, 1, 0), strict=True):
        opened(directory).delete(id_, author=NOBODY)
        assert count(directory, "transaction_base") == left


def test_two_hundred_changes(transactions: Transactions, document: Document, directory: Path) -> None:
    one = transactions.start(document, 7, author=NOBODY)
    for number in range(200):
        changed(transactions, one.id, adding(f"b{number}"))
    assert len(transactions.read(one.id).of_kind("backend")) == 201
    assert opened(directory).read(one.id).text == transactions.read(one.id).text


def test_a_change_while_another_thread_reads_the_transaction_of_a_former_process(
    transactions: Transactions, document: Document, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = transactions.start(document, 7, author=NOBODY)
    changed(transactions, one.id, adding("b"))
    again, begun, goes_on = opened(directory), threading.Event(), threading.Event()

    def late(*given: Any) -> Document:
        monkeypatch.undo()
        begun.set()
        assert goes_on.wait(60)
        return patches.apply(*given)

    monkeypatch.setattr(store.patches, "apply", late)
    reader = threading.Thread(target=again.sides, args=(one.id,))
    reader.start()
    assert begun.wait(60)
    changed(again, one.id, adding("c"))
    goes_on.set()
    reader.join()
    changed(again, one.id, adding("d"))
    for found in (again, opened(directory)):
        assert found.read(one.id).text == TEXT + "".join(f"\nbackend {name}\n" for name in "bcd")


def test_a_change_that_fails_changes_nothing(transactions: Transactions, document: Document, directory: Path) -> None:
    def refuse(document: Document) -> Document:
        raise BadValue("no")

    one = transactions.start(document, 7, author=NOBODY)
    before = files(directory)
    with pytest.raises(BadValue):
        changed(transactions, one.id, refuse)
    assert transactions.read(one.id).text == TEXT
    assert files(directory) == before


def test_a_change_of_nothing_writes_nothing(transactions: Transactions, document: Document, directory: Path) -> None:
    one = transactions.start(document, 7, author=NOBODY)
    changed(transactions, one.id, lambda document: document)
    assert count(directory, "transaction_change") == 0


def test_bytes_that_are_no_text(transactions: Transactions, directory: Path) -> None:
    document = Document.parse(b"backend a\n  # \xff\xfe \xc3\xa4\r\n")
    one = transactions.start(document, 1, author=NOBODY)
    changed(transactions, one.id, lambda document: document.insert(Section("backend", "b", "backend b\n  # \udcfe ü\n")))
    assert opened(directory).read(one.id).data == transactions.read(one.id).data


def test_ends(transactions: Transactions, document: Document, directory: Path) -> None:
    committed, deleted, failed, outdated = (transactions.start(document, 7, author=NOBODY) for _ in range(4))
    assert transactions.succeed(committed.id).as_dict() == {"_version": 7, "id": committed.id, "status": "success"}
    transactions.fail(failed.id, b"x", author=NOBODY)
    transactions.outdate(outdated.id)
    for one in (deleted, failed, outdated):
        transactions.delete(one.id, author=NOBODY)
    assert transactions.list(author=NOBODY) == []
    assert (files(directory), files(directory / "failed")) == (["failed"], [])
    assert [count(directory, table) for table in ("open_transaction", "transaction_change", "transaction_base")] == [0, 0, 0]


def test_what_is_asked_of_one_that_is_not(transactions: Transactions, document: Document) -> None:
    failed = transactions.start(document, 7, author=NOBODY)
    transactions.fail(failed.id, b"text", author=NOBODY)
    for ask, text in [
        (lambda: transactions.get(MISSING), f"transaction {MISSING} does not exist"),
        (lambda: transactions.delete(MISSING, author=NOBODY), f"transaction file {MISSING} does not exist"),
        (lambda: transactions.text(MISSING), f"transaction file {MISSING} does not exist"),
        (lambda: transactions.text("../haproxy.cfg"), "transaction file ../haproxy.cfg does not exist"),
        (lambda: transactions.read(MISSING), MISSING),
        (lambda: transactions.read(failed.id), failed.id),
        (lambda: changed(transactions, failed.id, adding("b")), failed.id),
    ]:
        with pytest.raises(NoTransaction) as caught:
            ask()
        assert str(caught.value) == f"transaction does not exist: {text}"


def test_only_those_of_that_version_are_outdated(transactions: Transactions, document: Document) -> None:
    old, same, new = (transactions.start(document, version, author=NOBODY) for version in (6, 7, 8))
    transactions.outdate_older(7)
    assert [one.id for one in transactions.list("in_progress", author=NOBODY)] == [new.id]
    assert {one.id for one in transactions.list("outdated", author=NOBODY)} == {old.id, same.id}


def test_the_limit_is_for_open_ones(directory: Path, document: Document) -> None:
    transactions = opened(directory, limit=2)
    first = transactions.start(document, 7, author=NOBODY)
    transactions.fail(MISSING, b"x", author=NOBODY)
    transactions.start(document, 7, author=NOBODY)
    with pytest.raises(TooManyTransactions, match=r"^cannot start a new transaction, reached the maximum amount of 2 active"):
        transactions.start(document, 7, author=NOBODY)
    transactions.delete(first.id, author=NOBODY)
    transactions.start(document, 7, author=NOBODY)


def test_others_files_stay(directory: Path, document: Document) -> None:
    (directory / "failed").mkdir(parents=True)
    names = ["other.cfg." + MISSING, "haproxy.cfg.1", "haproxy.cfg.lkg", "readme"]
    for name in names:
        (directory / name).write_text("x")
    transactions = opened(directory)
    assert transactions.list(author=NOBODY) == []
    transactions.delete(transactions.start(document, 1, author=NOBODY).id, author=NOBODY)
    assert files(directory) == sorted(["failed", *names])


def test_a_transaction_of_another_server_is_taken_over(directory: Path) -> None:
    directory.mkdir()
    path = directory / f"haproxy.cfg.{MISSING}"
    path.write_text("# _md5hash=1\n# _version=4\n" + TEXT)
    transactions = opened(directory)
    assert transactions.get(MISSING).as_dict() == {"_version": 4, "id": MISSING, "status": "in_progress"}
    assert transactions.text(MISSING) == path.read_bytes()
    changed(transactions, MISSING, adding("b"))
    assert not path.exists()
    again = opened(directory)
    assert again.read(MISSING).text == "# _md5hash=1\n# _version=4\n" + TEXT + "\nbackend b\n"
    base, _ = again.sides(MISSING)
    assert (base, [type(each) for each in again.get(MISSING).operations]) == (None, [PutDocument, ChangeText]), (
        "what it started from is not known"
    )
    again.outdate(MISSING)
    assert opened(directory).text(MISSING).endswith(TEXT.encode() + b"\nbackend b\n")
    opened(directory).delete(MISSING, author=NOBODY)
    assert opened(directory).list(author=NOBODY) == []


def test_one_of_another_server_that_is_outdated_unchanged_can_be_read(directory: Path) -> None:
    directory.mkdir()
    (directory / f"haproxy.cfg.{MISSING}").write_text("# _version=4\n" + TEXT)
    opened(directory).outdate_older(4)
    again = opened(directory)
    assert (again.get(MISSING).status, TEXT.encode() in again.text(MISSING), files(directory)) == ("outdated", True, [])


def test_a_database_that_cannot_be_read(directory: Path, document: Document) -> None:
    (directory.parent / "state").write_text("no directory")
    transactions = opened(directory)
    for use in (
        lambda: transactions.list(author=NOBODY),
        lambda: transactions.start(document, 7, author=NOBODY),
        *(partial(use, MISSING) for use in by_id(transactions)[1:]),
    ):
        with pytest.raises(Unusable, match=r"the database .*state\.db cannot be used: .*"):
            use()
    (directory.parent / "state").unlink()
    assert transactions.list(author=NOBODY) == []


def test_a_directory_that_cannot_be_used(directory: Path, document: Document) -> None:
    """Nothing needs it but complete texts."""
    directory.write_text("a file")
    transactions = opened(directory)
    transactions.fail(MISSING, b"nowhere to keep it", author=NOBODY)
    one = transactions.start(document, 7, author=NOBODY)
    after = changed(transactions, one.id, adding("b"))
    transactions.fail(one.id, b"nowhere to keep it, either", author=NOBODY)
    again = opened(directory)
    assert [each.as_dict() for each in again.list(author=NOBODY)] == [{"id": one.id, "status": "failed"}]
    assert again.text(one.id) == header.with_header(after, 7, banner=True).data


def by_id(transactions: Transactions) -> list[Callable[[str], object]]:
    return [transactions.get, transactions.in_progress, transactions.read, partial(transactions.delete, author=NOBODY), transactions.text]


def test_a_directory_that_comes_back_later_brings_what_is_in_it(directory: Path) -> None:
    opened(directory).fail(MISSING, b"text", author=NOBODY)
    directory.rename(directory.with_name("elsewhere"))
    directory.write_text("a file")
    transactions = opened(directory)
    directory.unlink()
    directory.with_name("elsewhere").rename(directory)
    assert [each.id for each in transactions.list(author=NOBODY)] == [MISSING]


def test_what_the_disk_does_not_take_waits_in_memory(directory: Path, document: Document) -> None:
    transactions = opened(directory)
    database = transactions._store._database
    set_most_pages(database, 1)
    one, overtaken = (transactions.start(document, version, author=NOBODY) for version in (7, 6))
    for name in ("b", "c"):
        changed(transactions, one.id, adding(name))
    changed(transactions, overtaken.id, adding("o" * 100_000))
    transactions.outdate_older(6)
    texts = {each.id: transactions.text(each.id) for each in transactions.list(author=NOBODY)}
    assert b"backend ooo" in texts[overtaken.id] and database.backlog
    set_most_pages(database, 1 << 20)
    again = opened(directory)
    assert {each.id: again.text(each.id) for each in again.list(author=NOBODY)} == texts


def set_most_pages(database: Database, most: int) -> None:
    """A database that has that many is refused more as on a full disk."""
    database.read(lambda state: state.execute(f"PRAGMA max_page_count={most}"))


def test_what_is_only_read_writes_and_deletes_nothing(directory: Path, document: Document) -> None:
    one = opened(directory).start(document, 7, author=NOBODY)
    with between(directory, KEYS) as keys:
        keys.execute("INSERT INTO staged_file VALUES ('gone', ?, ?, NULL)", (b"/a.map", STAGED))
    reading = opened(directory, make=False)
    assert [each.id for each in reading.list(author=NOBODY)] == [one.id]
    assert reading.read(one.id).text == TEXT
    reading.clear()
    assert count(directory, "open_transaction") == count(directory, "staged_file") == 1
    opened(directory).load()
    assert (count(directory, "open_transaction"), count(directory, "staged_file")) == (1, 0)


@pytest.mark.parametrize("kills", [8, pytest.param(300, marks=pytest.mark.soak)])
def test_a_killed_process_leaves_a_change_whole_or_not_at_all(directory: Path, document: Document, kills: int) -> None:
    """Each process goes on with the transaction, and reports a change when it is answered; it is killed in the midst of one."""
    id_ = opened(directory).start(document, 7, author=NOBODY).id
    end()
    answered, chance = 0, random.Random(kills)
    for _ in range(kills):
        reading, writing = os.pipe()
        if not (pid := os.fork()):
            transactions = opened(directory)
            for number in itertools.count(answered):
                changed(transactions, id_, adding(f"b{number}"))
                os.write(writing, b"x")
        os.close(writing)
        with os.fdopen(reading, "rb", buffering=0) as reports:
            for _ in range(chance.randint(1, 8)):
                answered += len(reports.read(1))
            os.kill(pid, signal.SIGKILL)
            answered += len(reports.read())
        os.waitpid(pid, 0)
        found = len(opened(directory).read(id_).of_kind("backend")) - 1
        assert found in (answered, answered + 1), "what was answered is there, and at most the one that was at work"
        assert opened(directory).read(id_).text == TEXT + "".join(f"\nbackend b{number}\n" for number in range(found))
        end()
        answered = found


@pytest.mark.parametrize("restarted", [False, True])
def test_sixty_cost_little_more_than_one(directory: Path, restarted: bool) -> None:
    """Measured in a process of its own: in this one, what other tests have left allocates as well."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        each, whole = fresh.submit(memory_of_each, directory, restarted=restarted).result()
    assert each < 0.1 * whole


def memory_of_each(directory: Path, *, restarted: bool) -> tuple[float, int]:
    """The bytes that each of sixty transactions holds, and the size of their document."""
    sections = [
        Section("backend", f"b{i}", lines=[Line(f"backend b{i}\n"), *(Line(f"  server s{j} 127.0.0.1:{j}\n") for j in range(20))])
        for i in range(200)
    ]
    document = Document("", sections)
    transactions = opened(directory)

    def work(number: int) -> str:
        id_ = transactions.start(document, 1, author=NOBODY).id
        changed(transactions, id_, adding(f"new{number}"))
        assert transactions.read(id_).find("backend", "b100")
        return id_

    ids = [work(0)]
    tracemalloc.start()
    try:
        ids += [work(number) for number in range(1, 60)]
        if restarted:
            transactions = opened(directory)
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            transactions.read(ids[0])
            before = tracemalloc.get_traced_memory()[0]
            for id_ in ids:
                transactions.read(id_)
            used = tracemalloc.get_traced_memory()[0] - before
        else:
            gc.collect()
            used = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    return used / 59, len(document.data)


def idle(directory: Path, id_: str, seconds: float) -> None:
    with between(directory) as database:
        database.execute("UPDATE open_transaction SET used = used - ? WHERE id = ?", (seconds, id_))


def ending(directory: Path) -> Transactions:
    return opened(directory, 1, ttl=3600.0)


def test_one_that_nobody_uses_is_ended_and_a_later_use_is_answered_why(directory: Path, document: Document) -> None:
    id_ = ending(directory).start(document, 1, author=NOBODY).id
    idle(directory, id_, 3000)
    with pytest.raises(TooManyTransactions):
        ending(directory).start(document, 1, author=NOBODY)
    idle(directory, id_, 3000)
    assert ending(directory).start(document, 1, author=NOBODY).id != id_
    why = rf"{id_} was ended at .*Z, since it had not been used for 3600 s \(transaction_ttl\)"
    for used in by_id(ending(directory)):
        with pytest.raises(NoTransaction, match=why):
            used(id_)
    assert count(directory, "open_transaction") == 1


def test_not_all_that_were_ended_are_remembered(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MOST_ENDED", 3)
    transactions = ending(directory)
    for number in range(4):
        transactions._store.add_ended(str(number), 60.0)
    for known in (transactions, ending(directory)):
        assert [bool(known._store.why_ended(str(number))) for number in range(4)] == [False, True, True, True]


def test_without_a_limit_none_is_ended(directory: Path, document: Document) -> None:
    id_ = opened(directory).start(document, 1, author=NOBODY).id
    idle(directory, id_, 1e9)
    assert opened(directory).in_progress(id_).id == id_


def test_one_that_is_being_committed_is_not_idle(directory: Path, document: Document) -> None:
    transactions = ending(directory)
    transaction = transactions.start(document, 1, author=NOBODY)
    transaction.used, transaction.closed = 0.0, True
    transactions.end_idle()
    assert transactions.get(transaction.id) is transaction


def test_a_use_of_one_ends_no_other(directory: Path, document: Document) -> None:
    """It may be made in a thread, while others are looked through."""
    transactions = opened(directory, ttl=3600.0)
    one, other = transactions.start(document, 1, author=NOBODY), transactions.start(document, 1, author=NOBODY)
    other.used = 0.0
    assert transactions.in_progress(one.id) is one
    assert transactions._all[other.id] is other
    with pytest.raises(NoTransaction):
        transactions.in_progress(other.id)
