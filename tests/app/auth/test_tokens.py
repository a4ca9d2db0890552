"""Tokens, and what of them is kept."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from dataplaneapi.api.errors import ApiError
from dataplaneapi.auth import tokens as module
from dataplaneapi.auth.tokens import Token, Tokens, is_well_formed
from dataplaneapi.settings.roles import USERS
from haproxy_native.disk.database import Database
from haproxy_native.errors import Unusable
from tests.databases import damage


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(tmp_path / "state")


def create(tokens: Tokens, creator: str = "ann", **more: Any) -> tuple[Token, str]:
    return asyncio.run(tokens.create(["viewer"], USERS, creator, 60.0, **more))


def test_a_secret_is_known_until_it_expires(database: Database) -> None:
    clock = Clock()
    tokens = Tokens(database, clock)
    token, secret = create(tokens, networks=["10.0.0.0/8"], note="CI")
    assert is_well_formed(secret.encode()) and tokens.find(secret.encode()) == token == Tokens(database, clock).get(token.id)
    assert not any(secret.encode() in path.read_bytes() for path in database.directory.iterdir())
    assert tokens.find(secret[:-1].encode() + b"?") is None and tokens.find(b"") is None
    clock.now += 59.999
    assert tokens.find(secret.encode())
    clock.now += 0.001
    assert tokens.find(secret.encode()) is None and tokens.all() == [] and tokens.get(token.id) is None
    asyncio.run(tokens.tidy())
    clock.now -= 1
    assert Tokens(database, clock).all() == []


@pytest.mark.parametrize(
    ("address", "networks", "is_from"),
    [
        ("10.1.2.3", (), True),
        ("unix", (), True),
        ("10.1.2.3", ("192.0.2.0/24", "10.0.0.0/8"), True),
        ("::ffff:10.1.2.3", ("10.0.0.0/8",), True),
        ("10.1.2.3", ("::ffff:10.0.0.0/104",), True),
        ("::ffff:10.1.2.3", ("::ffff:10.1.2.3",), True),
        ("11.1.2.3", ("::ffff:10.0.0.0/104", "::/0"), False),
        ("11.1.2.3", ("10.0.0.0/8",), False),
        ("2001:db8::1", ("2001:db8::/32",), True),
        ("2001:db8::1", ("10.0.0.0/8",), False),
        ("unix", ("10.0.0.0/8",), False),
    ],
)
def test_addresses(address: str, networks: tuple[str, ...], is_from: bool) -> None:
    assert Token("1", "", (), USERS, "ann", 0.0, 0.0, networks).is_from(address) is is_from


def test_last_uses_are_written_in_a_while(database: Database) -> None:
    clock = Clock()
    tokens = Tokens(database, clock)
    token, _ = create(tokens)
    clock.now += 5
    tokens.use(token, "192.0.2.1")
    assert Tokens(database, clock).get(token.id) == token

    async def leave() -> None:
        async with tokens:
            pass

    asyncio.run(leave())
    kept = Tokens(database, clock).get(token.id)
    assert kept and (kept.used, kept.used_from) == (1005.0, "192.0.2.1")


def test_a_bounded_number(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_OF_ONE", 2)
    monkeypatch.setattr(module, "MOST", 3)
    clock = Clock()
    tokens = Tokens(database, clock)
    create(tokens), create(tokens)
    with pytest.raises(ApiError, match="this creator has 2 tokens"):
        create(tokens)
    create(tokens, "bob")
    with pytest.raises(ApiError, match="there are 3 tokens"):
        create(tokens, "eve")
    clock.now += 60
    create(tokens)


def test_a_disk_that_takes_nothing(database: Database, caplog: pytest.LogCaptureFixture) -> None:
    place = database.directory
    place.write_text("no directory")
    tokens = Tokens(database)
    assert "all tokens are refused" in caplog.text
    with pytest.raises(Unusable, match="creating the token failed"):
        create(tokens)
    assert tokens.all() == []
    place.unlink()
    token, secret = create(tokens)
    asyncio.run(damage(database))
    with pytest.raises(Unusable, match="is revoked, but it becomes valid again if the server restarts"):
        asyncio.run(tokens.revoke(token, "ann"))
    assert tokens.find(secret.encode()) is None
    asyncio.run(tokens.tidy())


def test_a_disk_that_takes_something_after_the_start(tmp_path: Path) -> None:
    token, _ = create(Tokens(Database(tmp_path / "state")))
    (tmp_path / "state").rename(tmp_path / "away")
    (tmp_path / "state").write_text("no directory")
    tokens = Tokens(Database(tmp_path / "state"))
    (tmp_path / "state").unlink()
    (tmp_path / "away").rename(tmp_path / "state")
    asyncio.run(tokens.tidy())
    assert tokens.get(token.id) == token


def test_a_revocation_that_the_disk_takes_later(tmp_path: Path) -> None:
    database = Database(tmp_path / "state")
    tokens = Tokens(database)
    token, _ = create(tokens)
    asyncio.run(damage(database))
    with pytest.raises(Unusable):
        asyncio.run(tokens.revoke(token, "ann"))
    (tmp_path / "state").rename(tmp_path / "damaged")
    assert Tokens(database).all() == []
