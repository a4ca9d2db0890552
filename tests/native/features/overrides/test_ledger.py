"""Store overrides in the database, and find those that a change of the configuration ends."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from haproxy_native.disk.database import Database
from haproxy_native.errors import Unusable
from haproxy_native.features.overrides.ledger import Override, OverrideLedger, ended_overrides
from haproxy_native.planning.effects import effects
from haproxy_native.text.document import Document

WEB1 = "backend/shop/server/web1"
STATE = Override(WEB1, "admin_state", "drain", "ready", 5.0, "admin")
WEIGHT = Override(WEB1, "weight", 7, 20, 6.0)
PORT = Override("backend/shop/server/web2", "port", 81, 80, 7.0)
TEXT = "backend shop\n  server web1 10.0.0.1:80 weight 20\n  server web2 10.0.0.2:80\nbackend shops\n  server web1 10.0.0.3:80\n"


def test_remembered(tmp_path: Path) -> None:
    database = Database(tmp_path)
    ledger = OverrideLedger(database)
    ledger.store([STATE, WEIGHT, PORT])
    ledger.set_worker("7@1.5")
    again = OverrideLedger(database)
    assert again.all() == [PORT, WEIGHT, STATE] and again.worker == "7@1.5"
    again.store([Override(WEIGHT.object, "weight", 20, 20, 8.0), replace(STATE, configured="enabled")])
    again.delete([PORT])
    assert OverrideLedger(database).all() == again.all() == again.overrides_of(WEB1) == [replace(STATE, configured="enabled")]
    database.close()


def test_what_changes_nothing_is_not_written(tmp_path: Path) -> None:
    """The background task calls these methods twice a second."""
    database, posted = Database(tmp_path), list[object]()
    ledger = OverrideLedger(database)
    database.post = posted.append  # type: ignore[method-assign]
    ledger.delete([])
    ledger.store([])
    ledger.delete([WEIGHT])
    ledger.set_worker("")
    assert posted == []
    database.close()


def test_a_database_that_is_read_later(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = Database(tmp_path / "state")
    OverrideLedger(first).store([STATE, WEIGHT])
    first.close()
    (tmp_path / "state").rename(tmp_path / "away")
    (tmp_path / "state").write_text("no directory")
    database = Database(tmp_path / "state")
    ledger = OverrideLedger(database)
    assert "reading the overrides failed" in caplog.text
    ledger.store([replace(WEIGHT, value=8)])
    with pytest.raises(Unusable):
        asyncio.run(ledger.read())
    (tmp_path / "state").unlink()
    (tmp_path / "away").rename(tmp_path / "state")
    asyncio.run(ledger.read())
    assert ledger.all() == [replace(WEIGHT, value=8), STATE] == OverrideLedger(database).all()
    database.close()


@pytest.mark.parametrize(
    ("old", "new", "gone"),
    [
        ("weight 20", "weight 30", [WEIGHT]),
        ("weight 20", "weight 20 disabled", [STATE]),
        ("weight 20", "weight 20 maxconn 5", []),
        ("10.0.0.2:80", "10.0.0.2:90", [PORT]),
        ("10.0.0.3:80", "10.0.0.3:90 weight 3", []),
        ("  server web1 10.0.0.1:80 weight 20\n", "", [STATE, WEIGHT]),
        ("  server web1 10.0.0.3:80\n", "", []),
        ("backend shop\n", "backend other\n", [STATE, WEIGHT, PORT]),
        ("backend shop\n", "# a word\nbackend shop\n", []),
    ],
)
def test_what_ends_them(old: str, new: str, gone: list[Override]) -> None:
    changed = effects(Document.parse(TEXT), Document.parse(TEXT.replace(old, new)))
    assert ended_overrides([STATE, WEIGHT, PORT], changed) == gone


def test_what_ends_those_of_a_listen_section() -> None:
    """In the process, a listen section is a backend."""
    text = TEXT.replace("backend shop\n", "listen shop\n")
    for new, gone in (("server web1 10.0.0.1:80 weight 30", [WEIGHT]), ("server web3 10.0.0.1:80 weight 20", [STATE, WEIGHT])):
        changed = effects(Document.parse(text), Document.parse(text.replace("server web1 10.0.0.1:80 weight 20", new)))
        assert ended_overrides([STATE, WEIGHT, PORT], changed) == gone
