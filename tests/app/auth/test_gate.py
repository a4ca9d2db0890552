"""Who is let in."""

import asyncio
import base64
import dataclasses
import time
from pathlib import Path
from typing import Any

import pytest

from dataplaneapi.api.responses import Response
from dataplaneapi.auth import gate as gate_module
from dataplaneapi.auth import passwords
from dataplaneapi.auth.bearers import Bearers
from dataplaneapi.auth.gate import REMEMBERED_SECONDS, Gate, parse_basic
from dataplaneapi.auth.guessing import PER_ADDRESS, PER_NAME, SECONDS
from dataplaneapi.auth.tokens import Tokens
from dataplaneapi.auth.users import Users
from dataplaneapi.settings.table import Settings
from haproxy_native.disk.database import Database
from haproxy_native.text.document import Document

HASH = b"$5$saltsalt$WzUmQii01nfTV1TYCOkBeBwTyxmKMzcJfuoexqMmrA6"
CONFIGURATION = Document.parse(b"userlist controller\n  user first insecure-password one:two\n  user second password " + HASH + b"\n")


def basic(text: str, scheme: str = "Basic") -> bytes:
    return f"{scheme} ".encode() + base64.b64encode(text.encode())


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def users(tmp_path: Path) -> Users:
    return Users(Settings(dataplane_storage_dir=str(tmp_path)), lambda: CONFIGURATION)


async def refusal_of(gate: Gate, authorization: bytes, address: str = "-") -> Response | None:
    result = await gate.authenticate(authorization, address)
    return result if isinstance(result, Response) else None


def verdict(gate: Gate, authorization: bytes) -> str | None:
    refusal = asyncio.run(refusal_of(gate, authorization))
    return said(refusal) if refusal else None


def said(refusal: Response) -> str:
    headers = {bytes(name): value for name, value in refusal.raw_headers}
    assert refusal.status_code == 401
    assert headers[b"WWW-Authenticate"] == b'Basic realm="API"'
    return str(refusal.value["message"])


@pytest.mark.parametrize(
    ("authorization", "said"),
    [
        (basic("first:one:two"), None),
        (basic("first:one:two", "basic"), None),
        (basic("second:sha256pw"), None),
        (basic("second:sha256"), "unauthorized"),
        (basic("first:one"), "unauthorized"),
        (basic("nobody:one:two"), "unauthorized"),
        (b"", "missing or invalid authorization"),
        (b"Basic", "missing or invalid authorization"),
        (b"Basic ===", "missing or invalid authorization"),
        (b"Basic \xff", "missing or invalid authorization"),
        (basic("first"), "missing or invalid authorization"),
        (b"Bearer abc", "missing or invalid authorization"),
    ],
)
def test_verdicts(users: Users, authorization: bytes, said: str | None) -> None:
    assert verdict(Gate(users), authorization) == said


def test_no_users_at_all(tmp_path: Path) -> None:
    gate = Gate(Users(Settings(dataplane_storage_dir=str(tmp_path)), lambda: Document.parse(b"")))
    assert verdict(gate, basic("a:b")) == "no configured users"


def test_bytes_that_are_no_utf8_are_a_password_like_any_other(users: Users) -> None:
    assert parse_basic(b"Basic " + base64.b64encode(b"a:\xff")) == ("a", "\udcff")
    assert verdict(Gate(users), b"Basic " + base64.b64encode(b"first:\xff")) == "unauthorized"


def test_a_right_password_is_remembered_for_a_while(users: Users, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    gate = Gate(users, clock)
    right = basic("second:sha256pw")
    assert verdict(gate, right) is None
    monkeypatch.setattr(passwords, "verify", lambda *_, **__: False)
    assert verdict(gate, right) is None
    clock.now += REMEMBERED_SECONDS
    assert verdict(gate, right) == "unauthorized"


def test_a_wrong_one_is_not(users: Users, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(users)
    assert verdict(gate, basic("second:x")) == "unauthorized"
    monkeypatch.setattr(passwords, "verify", lambda *_, **__: True)
    assert verdict(gate, basic("second:x")) is None


def test_other_users_forget_all_verdicts(users: Users, tmp_path: Path) -> None:
    gate = Gate(users)
    assert verdict(gate, basic("first:one:two")) is None
    users.read(dataclasses.replace(Settings(dataplane_storage_dir=str(tmp_path)), users=[{"name": "other", "password": "p"}]))
    assert verdict(gate, basic("first:one:two")) == "unauthorized"


SETTINGS = ["$1$saltsalt", "$5$saltsalt", "$6$rounds=8000$saltsalt", "$y$j75$saltsaltsalt", "$2b$06$abcdefghijklmnopqrstuu"]


def test_no_name_can_be_told_by_the_work_of_its_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Users of every method of crypt, of clear text, and three names of nobody: each costs the same hashes. `make bench` has the times."""
    hashes = [passwords.hashed("right", setting) or f"{setting}$none" for setting in SETTINGS]
    known = [{"name": f"user{number}", "password": stored} for number, stored in enumerate(hashes)]
    known.append({"name": "clear", "password": "right", "insecure": True})
    gate = Gate(Users(Settings(dataplane_storage_dir=str(tmp_path), users=known), lambda: Document.parse(b"")))
    costs: list[str] = []
    hashed = passwords.hashed

    def counting(password: str, setting: str) -> str | None:
        costs.append(passwords.cost(setting, clear=False))
        return hashed(password, setting)

    monkeypatch.setattr(passwords, "hashed", counting)
    names = [*(each["name"] for each in known), "nobody", "root", "x" * 200]
    for name in names:
        costs.clear()
        assert asyncio.run(refusal_of(gate, basic(f"{name}:wrong"), name))
        assert sorted(costs) == sorted({passwords.cost(stored, clear=False) for stored in hashes}), name
    assert gate.refused == {"wrong": len(names)}


def test_refusals_are_counted_and_wrong_passwords_logged(users: Users, caplog: pytest.LogCaptureFixture) -> None:
    gate = Gate(users)
    for authorization in (b"", b"Basic ===", basic("first:one"), basic("no\nbody" + "x" * 999 + ":one"), basic("first:one:two")):
        asyncio.run(refusal_of(gate, authorization, "192.0.2.1"))
    assert gate.refused == {"none": 1, "malformed": 1, "wrong": 2}
    assert caplog.messages == [
        'login of user "first" from 192.0.2.1 failed',
        f'login of user "no\\nbody{"x" * 57}" from 192.0.2.1 failed',
    ]


RIGHT, WRONG = basic("second:sha256pw"), basic("second:wrong")


class Counted:
    """The passwords that are looked at, one after the other or at once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.passwords: list[str] = []
        verify = passwords.verify_evenly

        def counting(password: str, *given: Any) -> bool:
            self.passwords.append(password)
            return verify(password, *given)

        monkeypatch.setattr(passwords, "verify_evenly", counting)
        monkeypatch.setattr(gate_module, "PAUSE", 0.0)


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return Counted(monkeypatch).passwords


def statuses(gate: Gate, *tries: tuple[bytes, str]) -> list[int]:
    async def all_of_them() -> list[int]:
        return [refusal.status_code if (refusal := await refusal_of(gate, *each)) else 200 for each in tries]

    return asyncio.run(all_of_them())


def test_after_five_wrong_ones_neither_is_looked_at(users: Users, looked_at: list[str]) -> None:
    clock = Clock()
    gate = Gate(users, clock)
    assert statuses(gate, *[(WRONG, "192.0.2.1")] * PER_NAME) == [401] * PER_NAME
    for authorization in (WRONG, RIGHT):
        refusal = asyncio.run(refusal_of(gate, authorization, "192.0.2.1"))
        assert refusal and refusal.status_code == 429
        assert (b"Retry-After", b"60") in [(bytes(name), value) for name, value in refusal.raw_headers]
        assert "too many wrong passwords or tokens from 192.0.2.1; try again in 60 seconds" in refusal.value["message"]
    assert looked_at == ["wrong"] * PER_NAME
    assert statuses(gate, (RIGHT, "192.0.2.2"), (basic("first:one:two"), "192.0.2.1")) == [200, 200]
    clock.now += SECONDS
    assert statuses(gate, (RIGHT, "192.0.2.1")) == [200]
    assert gate.refused == {"wrong": PER_NAME, "limited": 2}


def test_a_verdict_of_one_address_is_none_for_another(users: Users) -> None:
    """Else an attacker who is over the limit would learn from it which password is right."""
    gate = Gate(users)
    assert statuses(gate, (RIGHT, "192.0.2.1"), *[(WRONG, "192.0.2.66")] * PER_NAME, (RIGHT, "192.0.2.66")) == [200, *[401] * PER_NAME, 429]
    assert gate.known_caller(RIGHT, "192.0.2.1") and not gate.known_caller(RIGHT, "192.0.2.66")


def test_the_right_password_passes_where_it_was_right_before(users: Users, looked_at: list[str]) -> None:
    gate = Gate(users)
    assert statuses(gate, (RIGHT, "192.0.2.1"), *[(WRONG, "192.0.2.1")] * (PER_NAME + 2)) == [200, *[401] * PER_NAME, 429, 429]
    assert not gate.known_caller(RIGHT, "192.0.2.1"), "an answer without a turn would tell the password"
    assert statuses(gate, (RIGHT, "192.0.2.1"), (WRONG, "192.0.2.1")) == [200, 401]


def test_it_passes_where_the_address_is_over_its_limit(users: Users) -> None:
    gate = Gate(users)
    guesses = [(basic(f"nobody{number}:x"), "192.0.2.1") for number in range(PER_ADDRESS)]
    assert statuses(gate, (RIGHT, "192.0.2.1"), *guesses, (basic("first:one:two"), "192.0.2.1"))[1:] == [*[401] * PER_ADDRESS, 429]
    assert statuses(gate, (RIGHT, "192.0.2.1"), (RIGHT, "192.0.2.1")) == [200, 200]
    assert not gate.known_caller(RIGHT, "192.0.2.1")


def test_a_success_clears_the_count(users: Users) -> None:
    gate = Gate(users)
    few = [(WRONG, "192.0.2.1")] * (PER_NAME - 1)
    assert 429 not in statuses(gate, *few, (RIGHT, "192.0.2.1"), *few)
    assert gate.known_caller(RIGHT, "192.0.2.1") and len(gate.guessing) == PER_NAME - 1, "a cached verdict clears none"


def test_malformed_and_missing_credentials_do_not_count(users: Users) -> None:
    gate = Gate(users)
    assert set(statuses(gate, *[(b"", "192.0.2.1"), (b"Basic ===", "192.0.2.1")] * PER_ADDRESS)) == {401}
    assert not len(gate.guessing)


def test_many_at_once_are_looked_at_no_more_often(users: Users, looked_at: list[str]) -> None:
    gate = Gate(users)

    async def at_once() -> list[Response | None]:
        return await asyncio.gather(*(refusal_of(gate, basic(f"second:{number}"), "192.0.2.1") for number in range(100)))

    assert sorted(refusal.status_code for refusal in asyncio.run(at_once()) if refusal) == [401] * PER_NAME + [429] * (100 - PER_NAME)
    assert len(looked_at) == PER_NAME


def test_the_same_credentials_at_once_are_one_look(users: Users, looked_at: list[str]) -> None:
    gate = Gate(users)

    async def at_once() -> list[Response | None]:
        return await asyncio.gather(*(refusal_of(gate, RIGHT, "192.0.2.1") for _ in range(100)))

    assert asyncio.run(at_once()) == [None] * 100
    assert looked_at == ["sha256pw"]


def test_those_that_are_looked_at_beyond_the_limit_take_turns(users: Users, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two at a time are looked at on the way in, and never two when the limit is reached."""
    at_work, most = [0], [0]
    verify = passwords.verify_evenly

    def watched(*given: Any) -> bool:
        at_work[0] += 1
        most[0] = max(most[0], at_work[0])
        time.sleep(0.002)
        at_work[0] -= 1
        return verify(*given)

    monkeypatch.setattr(gate_module, "PAUSE", 0.0)
    gate = Gate(users)
    statuses(gate, (RIGHT, "192.0.2.1"), *[(WRONG, "192.0.2.1")] * PER_NAME)
    monkeypatch.setattr(passwords, "verify_evenly", watched)

    async def at_once() -> list[Response | None]:
        guesses = [refusal_of(gate, basic(f"second:{number}"), "192.0.2.1") for number in range(20)]
        return await asyncio.gather(*guesses, refusal_of(gate, RIGHT, "192.0.2.1"))

    *refused, right = asyncio.run(at_once())
    assert right is None and {refusal.status_code for refusal in refused if refusal} == {429}
    assert most == [1] and not gate._turns


def test_lines_of_the_log_are_few(users: Users, caplog: pytest.LogCaptureFixture) -> None:
    gate = Gate(users)
    statuses(gate, *[(WRONG, "192.0.2.9")] * 100)
    assert caplog.messages.count('login of user "second" from 192.0.2.9 failed') == PER_NAME
    assert len([line for line in caplog.messages if line.startswith("too many wrong passwords")]) <= 10


def test_unknown_tokens_count_as_one_name(users: Users, tmp_path: Path) -> None:
    """A token that is good passes even then: 256 bits are not guessed. What is no token is no guess."""
    tokens = Tokens(Database(tmp_path))
    _, secret = asyncio.run(tokens.create(["viewer"], "users", "first", 60.0))
    gate = Gate(users, bearers=Bearers(users, tokens))
    unknown = [(b"Bearer dps_" + bytes([65 + number]) * 43, "192.0.2.1") for number in range(PER_NAME + 1)]
    assert statuses(gate, (b"Bearer x", "192.0.2.1"), (b"Bearer", "192.0.2.1"), *unknown) == [401] * (PER_NAME + 2) + [429]
    assert statuses(gate, (f"Bearer {secret}".encode(), "192.0.2.1"), (RIGHT, "192.0.2.1")) == [200, 200]
