"""Transactions: private, surviving, counted, and cheap."""

import asyncio
import gc
import json
import os
import stat
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pytest

from haproxy_native.editing import header
from haproxy_native.errors import BadValue, NoTransaction, TooManyTransactions, Unusable
from haproxy_native.request_context import NOBODY
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.section import Section
from haproxy_native.transactions.transactions import Transactions

TEXT = "# top\nglobal\n  maxconn 5\n\nbackend a\n  server s 127.0.0.1:1\n"
MISSING = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "haproxy.cfg").write_text(TEXT)
    (tmp_path / "haproxy.cfg").chmod(0o640)
    return tmp_path / "transactions"


def opened(directory: Path, limit: int = 0) -> Transactions:
    transactions = Transactions(directory, directory.parent / "haproxy.cfg", limit)
    transactions.load()
    return transactions


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
    assert files(directory) == sorted([".bases", f"haproxy.cfg.{first.id}", f"haproxy.cfg.{second.id}"])
    assert len(files(directory / ".bases")) == 1


def test_its_text_has_a_header(transactions: Transactions, document: Document) -> None:
    first, second = transactions.start(document, 7, author=NOBODY), transactions.start(document, 7, author=NOBODY, banner=False)
    assert transactions.text(first.id) == header.with_header(document, 7, banner=True).data
    assert transactions.text(second.id) == header.with_header(document, 7, banner=False).data


def test_files_are_as_open_as_the_configuration(transactions: Transactions, document: Document, directory: Path) -> None:
    one = transactions.start(document, 7, author=NOBODY)
    transactions.fail(MISSING, b"text", author=NOBODY)
    base = next((directory / ".bases").iterdir())
    for path in (directory / f"haproxy.cfg.{one.id}", base, directory / "failed" / f"haproxy.cfg.{MISSING}"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o640


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


def test_a_torn_change_is_lost_and_the_next_one_is_not(transactions: Transactions, document: Document, directory: Path) -> None:
    one = transactions.start(document, 7, author=NOBODY)
    for name in ("b", "c"):
        changed(transactions, one.id, adding(name))
    path = directory / f"haproxy.cfg.{one.id}"
    whole = path.read_bytes()
    for cut in (1, 5, len(whole.split(b"\n")[2])):
        path.write_bytes(whole[:-cut])
        again = opened(directory)
        assert again.read(one.id).text == TEXT + "\nbackend b\n"
        changed(again, one.id, adding("d"))
        assert opened(directory).read(one.id).text == TEXT + "\nbackend b\n\nbackend d\n"


def test_five_hundred_changes(transactions: Transactions, document: Document, directory: Path) -> None:
    one = transactions.start(document, 7, author=NOBODY)
    for number in range(500):
        changed(transactions, one.id, adding(f"b{number}"))
    assert len(transactions.read(one.id).of_kind("backend")) == 501
    assert opened(directory).read(one.id).text == transactions.read(one.id).text


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
    path = directory / f"haproxy.cfg.{one.id}"
    before = path.read_bytes()
    changed(transactions, one.id, lambda document: document)
    assert path.read_bytes() == before


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
    assert files(directory) == ["failed", "outdated"]
    assert files(directory / "failed") == files(directory / "outdated") == []


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
    assert json.loads(path.read_bytes().split(b"\n")[0])["version"] == 4
    assert opened(directory).read(MISSING).text == "# _md5hash=1\n# _version=4\n" + TEXT + "\nbackend b\n"


def test_a_directory_that_cannot_be_used(directory: Path, document: Document) -> None:
    directory.write_text("a file")
    transactions = opened(directory)
    for use in (
        lambda: transactions.list(author=NOBODY),
        lambda: transactions.start(document, 7, author=NOBODY),
        *(partial(use, MISSING) for use in by_id(transactions)),
    ):
        with pytest.raises(Unusable, match=f"transaction_dir {directory} cannot be used: .*; remove the file that stands in its place"):
            use()
    transactions.fail(MISSING, b"nowhere to keep it", author=NOBODY)
    directory.unlink()
    assert transactions.list(author=NOBODY) == []


def by_id(transactions: Transactions) -> list[Callable[[str], object]]:
    return [transactions.get, transactions.in_progress, transactions.read, partial(transactions.delete, author=NOBODY), transactions.text]


def test_a_directory_that_comes_back_later_brings_what_is_in_it(directory: Path, document: Document) -> None:
    one = opened(directory).start(document, 7, author=NOBODY)
    directory.rename(directory.with_name("elsewhere"))
    directory.write_text("a file")
    transactions = opened(directory)
    directory.unlink()
    directory.with_name("elsewhere").rename(directory)
    assert [each.id for each in transactions.list(author=NOBODY)] == [one.id]


def test_a_change_that_cannot_be_written(transactions: Transactions, document: Document, directory: Path) -> None:
    one = transactions.start(document, 7, author=NOBODY)
    (directory / f"haproxy.cfg.{one.id}").unlink()
    with pytest.raises(Unusable, match=one.id):
        changed(transactions, one.id, adding("b"))
    assert transactions.read(one.id).text == TEXT


@pytest.mark.parametrize("restarted", [False, True])
def test_a_hundred_cost_little_more_than_one(directory: Path, restarted: bool) -> None:
    """Measured in a process of its own: in this one, what other tests have left allocates as well."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
        each, whole = fresh.submit(memory_of_each, directory, restarted=restarted).result()
    assert each < 0.1 * whole


def memory_of_each(directory: Path, *, restarted: bool) -> tuple[float, int]:
    """The bytes that each of a hundred transactions holds, and the size of their document."""
    sections = [
        Section("backend", f"b{i}", lines=[Line(f"backend b{i}\n"), *(Line(f"  server s{j} 127.0.0.1:{j}\n") for j in range(20))])
        for i in range(500)
    ]
    document = Document("", sections)
    transactions = opened(directory)

    def work(number: int) -> str:
        id_ = transactions.start(document, 1, author=NOBODY).id
        changed(transactions, id_, adding(f"new{number}"))
        assert transactions.read(id_).find("backend", "b250")
        return id_

    ids = [work(0)]
    tracemalloc.start()
    try:
        ids += [work(number) for number in range(1, 100)]
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
    return used / 99, len(document.data)


def idle(directory: Path, id_: str, seconds: float) -> None:
    path = directory / f"haproxy.cfg.{id_}"
    os.utime(path, (path.stat().st_atime, path.stat().st_mtime - seconds))


def ending(directory: Path) -> Transactions:
    transactions = Transactions(directory, directory.parent / "haproxy.cfg", 1, ttl=3600.0)
    transactions.load()
    return transactions


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
    assert not (directory / f"haproxy.cfg.{id_}").exists()


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
    transactions = Transactions(directory, directory.parent / "haproxy.cfg", ttl=3600.0)
    one, other = transactions.start(document, 1, author=NOBODY), transactions.start(document, 1, author=NOBODY)
    other.used = 0.0
    assert transactions.in_progress(one.id) is one
    assert (directory / f"haproxy.cfg.{other.id}").exists()
    with pytest.raises(NoTransaction):
        transactions.in_progress(other.id)
