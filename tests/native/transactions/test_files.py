"""What transactions leave on disk is found again, and what belongs to nobody goes."""

from pathlib import Path

import pytest

from haproxy_native.disk.directories import Directory
from haproxy_native.editing import patches
from haproxy_native.text.document import CONFIGURATION, Document
from haproxy_native.transactions.files import FAILED, IN_PROGRESS, MOST_ENDED, OUTDATED, Transaction, TransactionFiles

IDS = [f"00000000-0000-4000-8000-00000000000{number}" for number in range(3)]
TEXTS = [Document.parse(text) for text in ("global\n", "global\n", "global\n\n")]
BEFORE, AFTER = Document.parse("global\n"), Document.parse("global\n\nbackend b\n")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "haproxy.cfg").write_text("global\n")
    return tmp_path / "transactions"


def opened(place: Path, *, make: bool = True) -> TransactionFiles:
    return TransactionFiles(Directory(place, "transaction_dir", 0o755, own=True, make=make), place.parent / "haproxy.cfg", CONFIGURATION)


def test_an_open_one_is_its_base_and_its_changes(place: Path) -> None:
    files, one = opened(place), Transaction(IDS[0], IN_PROGRESS, 7, document=BEFORE)
    patch = patches.patch(BEFORE, AFTER)
    assert patch
    files.append(one, patch, [])
    [again] = opened(place).all()
    assert (again.id, again.status, again.version, again.base) == (IDS[0], IN_PROGRESS, 7, one.base)
    assert opened(place).document(again).text == AFTER.text
    assert opened(place).base(again.base or "").text == BEFORE.text


def test_each_status_has_its_directory_in_the_order_of_the_api(place: Path) -> None:
    files, overtaken = opened(place), Transaction(IDS[1], IN_PROGRESS, 7, document=BEFORE)
    files.store(overtaken)
    files.store(Transaction(IDS[0], IN_PROGRESS, 7, document=BEFORE))
    files.write_failed(Transaction(IDS[2], FAILED), b"backend b\n")
    files.outdate(overtaken)
    assert [(each.id, each.status) for each in opened(place).all()] == [(IDS[2], FAILED), (IDS[0], IN_PROGRESS), (IDS[1], OUTDATED)]
    assert opened(place).document(overtaken).text == BEFORE.text


def test_stored_files_go_with_their_transaction(place: Path) -> None:
    files, one, other = opened(place), *(Transaction(each, IN_PROGRESS, document=BEFORE) for each in IDS[:2])
    for each in (one, other):
        (place / ".files" / each.id).mkdir(parents=True)
    files.keep_staged([one.id])
    assert [path.name for path in (place / ".files").iterdir()] == [one.id]
    files.remove(one)
    assert not any((place / ".files").iterdir())


def test_a_text_is_stored_once_and_goes_with_its_last_transaction(place: Path) -> None:
    files, transactions = (
        opened(place),
        [Transaction(each, IN_PROGRESS, document=document) for each, document in zip(IDS, TEXTS, strict=True)],
    )
    for each in transactions:
        files.store(each)
    (place / ".bases" / "others.file").touch()
    first, same, other = (each.base for each in transactions)
    assert first == same != other
    files.keep_bases({first})
    assert sorted(path.name for path in (place / ".bases").iterdir()) == sorted([f"haproxy.cfg.{first}", "others.file"])
    (place / ".bases" / "others.file").unlink()
    files.keep_bases(set())
    assert not (place / ".bases").exists()


def test_why_one_was_ended(place: Path) -> None:
    place.mkdir()
    (place / ".ended").write_text("[1]")
    assert opened(place).why_ended("0") == "", "a file that cannot be read costs the reason alone"
    files = opened(place)
    for number in range(MOST_ENDED + 1):
        files.add_ended(str(number), 60.0)
    assert (opened(place).why_ended("0"), "for 60 s (transaction_ttl)" in opened(place).why_ended("1")) == ("", True)


def test_what_is_only_read_makes_and_deletes_nothing(place: Path) -> None:
    assert not opened(place, make=False).check()
    files = opened(place)
    files.store(Transaction(IDS[0], IN_PROGRESS, 7, document=BEFORE))
    reading = opened(place, make=False)
    reading.keep_bases(set())
    assert reading.check()
    assert [reading.document(each).text for each in reading.all()] == [BEFORE.text]
