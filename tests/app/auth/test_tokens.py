"""Tokens and the file that keeps them."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from dataplaneapi.api.errors import ApiError
from dataplaneapi.auth import tokens as module
from dataplaneapi.auth.tokens import Token, Tokens, is_well_formed
from dataplaneapi.settings.roles import USERS


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tokens.json"


def create(tokens: Tokens, creator: str = "ann", **more: Any) -> tuple[Token, str]:
    return asyncio.run(tokens.create(["viewer"], USERS, creator, 60.0, **more))


def test_a_secret_is_known_until_it_expires(file: Path) -> None:
    clock = Clock()
    tokens = Tokens(file, clock)
    token, secret = create(tokens, networks=["10.0.0.0/8"], note="CI")
    assert is_well_formed(secret.encode()) and tokens.find(secret.encode()) == token == Tokens(file, clock).get(token.id)
    assert secret not in file.read_text() and file.stat().st_mode & 0o777 == 0o600
    assert tokens.find(secret[:-1].encode() + b"?") is None and tokens.find(b"") is None
    clock.now += 59.999
    assert tokens.find(secret.encode())
    clock.now += 0.001
    assert tokens.find(secret.encode()) is None and tokens.all() == [] and tokens.get(token.id) is None
    asyncio.run(tokens.tidy())
    assert json.loads(file.read_text()) == {"tokens": []}


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


def test_last_uses_are_written_in_a_while(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    tokens = Tokens(file, clock)
    token, _ = create(tokens)
    before = file.read_bytes()
    clock.now += 5
    tokens.use(token, "192.0.2.1")
    assert file.read_bytes() == before

    async def leave() -> None:
        async with tokens:
            pass

    asyncio.run(leave())
    kept = Tokens(file, clock).get(token.id)
    assert kept and (kept.used, kept.used_from) == (1005.0, "192.0.2.1")


def test_a_bounded_number(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_OF_ONE", 2)
    monkeypatch.setattr(module, "MOST", 3)
    clock = Clock()
    tokens = Tokens(file, clock)
    create(tokens), create(tokens)
    with pytest.raises(ApiError, match="this creator has 2 tokens"):
        create(tokens)
    create(tokens, "bob")
    with pytest.raises(ApiError, match="there are 3 tokens"):
        create(tokens, "eve")
    clock.now += 60
    create(tokens)


def test_a_disk_that_takes_nothing(tmp_path: Path) -> None:
    place = tmp_path / "none"
    tokens = Tokens(place / "tokens.json")
    with pytest.raises(ApiError, match="is not created"):
        create(tokens)
    assert tokens.all() == []
    place.mkdir()
    token, secret = create(tokens)
    (place / "tokens.json").unlink()
    place.rmdir()
    with pytest.raises(ApiError, match="revoked until this server starts again"):
        asyncio.run(tokens.revoke(token, "ann"))
    assert tokens.find(secret.encode()) is None
    asyncio.run(tokens.tidy())


@pytest.mark.parametrize("text", ["", "{", "[]", '{"tokens": [{"id": 1}]}', '{"tokens": 1}'])
def test_a_file_of_another_kind(file: Path, text: str, caplog: pytest.LogCaptureFixture) -> None:
    file.write_text(text)
    assert Tokens(file).all() == [] and "no token is known" in caplog.text
