import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from haproxy_native.disk.database import Database
from haproxy_native.errors import NotFound, Unusable
from haproxy_native.features.confirmations import ledger
from haproxy_native.features.confirmations.ledger import CONFIRMED, OPEN, PENDING, Confirmation, ConfirmationLedger


def of(id_: str) -> Confirmation:
    return Confirmation(id_, "ann", 1.0, 120.0)


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(tmp_path / "state")


def test_remembered(database: Database) -> None:
    async def work() -> None:
        kept = ConfirmationLedger(database)
        made = await kept.add(of)
        assert (made.id, made.status, kept.waiting) == ("1", OPEN, made)
        changed = await kept.change("1", status=PENDING, deadline=9.0)
        again = ConfirmationLedger(database)
        assert again.all() == [changed] == [replace(made, status=PENDING, deadline=9.0)]
        await again.change("1", status=CONFIRMED, ended=5.0)
        assert again.waiting is None and (await again.add(of)).id == "2" and [each.id for each in again.all()] == ["2", "1"]
        with pytest.raises(NotFound, match="confirmation 7 does not exist"):
            again.get("7")
        noted = again.update("2", error="why", standing=[3])
        again.update("2", queue_write=False, error="lost")
        await again.wait_until_written()
        assert ConfirmationLedger(database).get("2") == noted

    asyncio.run(work())
    database.close()


def test_the_oldest_are_forgotten(database: Database) -> None:
    async def work() -> None:
        kept = ConfirmationLedger(database)
        for number in range(1, ledger.MOST + 20):
            await kept.add(of)
            await kept.change(str(number), status=CONFIRMED)
        await kept.add(of)
        last, again = str(ledger.MOST + 20), ConfirmationLedger(database)
        assert len(kept.all()) == ledger.MOST + 1 and kept.all()[0].id == last and again.all() == kept.all()

    asyncio.run(work())
    database.close()


def test_a_refused_write_forgets_nothing(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(work: object) -> None:
        raise Unusable("the disk is full")

    async def work() -> None:
        monkeypatch.setattr(ledger, "MOST", 1)
        kept = ConfirmationLedger(database)
        for id_ in ("1", "2"):
            await kept.add(of)
            await kept.change(id_, status=CONFIRMED)
        before = kept.all()
        with monkeypatch.context() as full:
            full.setattr(database, "store", refuse)
            with pytest.raises(Unusable):
                await kept.add(of)
        assert kept.all() == before and [each.id for each in before] == ["2", "1"]
        await kept.add(of)
        assert [each.id for each in kept.all()] == ["3", "2"]

    asyncio.run(work())
    database.close()


def test_a_disk_that_takes_nothing(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    database.directory.write_text("no directory")
    kept = ConfirmationLedger(database)
    assert "reading the confirmations failed" in caplog.text
    with pytest.raises(Unusable, match="cannot be used"):
        asyncio.run(kept.add(of))
    assert kept.all() == []
    database.directory.unlink()
    assert asyncio.run(kept.add(of)).id == "1"
    database.close()
