"""Who is let in."""

import asyncio
import base64
import dataclasses
import json
import statistics
import time
from pathlib import Path

import pytest

from dataplaneapi.auth import passwords
from dataplaneapi.auth.gate import REMEMBERED_SECONDS, Gate, parse_basic
from dataplaneapi.auth.users import Users
from dataplaneapi.settings.table import Settings
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


def verdict(gate: Gate, authorization: bytes) -> str | None:
    refusal = asyncio.run(gate.refusal(authorization))
    if refusal is None:
        return None
    headers = {bytes(name): value for name, value in refusal.raw_headers}
    assert refusal.status_code == 401
    assert headers[b"WWW-Authenticate"] == b'Basic realm="API"'
    return str(json.loads(refusal.body)["message"])


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
TRIES = 9


def test_no_name_can_be_told_by_the_time_of_its_refusal(tmp_path: Path) -> None:
    """The CPU time of refusals, by name, tried in turn: users of every method of crypt, of clear text, and three names of nobody."""
    hashes = [passwords.hashed("right", setting) or f"{setting}$none" for setting in SETTINGS]
    known = [{"name": f"user{number}", "password": stored} for number, stored in enumerate(hashes)]
    known.append({"name": "clear", "password": "right", "insecure": True})
    gate = Gate(Users(Settings(dataplane_storage_dir=str(tmp_path), users=known), lambda: Document.parse(b"")))
    times: dict[str, list[float]] = {name: [] for name in [*(each["name"] for each in known), "nobody", "root", "x" * 200]}

    async def refuse_all() -> None:
        for _ in range(TRIES):
            for name, taken in times.items():
                began = time.process_time()
                assert await gate.refusal(basic(f"{name}:wrong"))
                taken.append(time.process_time() - began)

    asyncio.run(refuse_all())
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    assert max(medians.values()) < 1.5 * min(medians.values()), medians
    assert gate.refused == {"wrong": TRIES * len(times)}


def test_refusals_are_counted_and_wrong_passwords_logged(users: Users, caplog: pytest.LogCaptureFixture) -> None:
    gate = Gate(users)
    for authorization in (b"", b"Basic ===", basic("first:one"), basic("no\nbody" + "x" * 999 + ":one"), basic("first:one:two")):
        asyncio.run(gate.refusal(authorization, "192.0.2.1"))
    assert gate.refused == {"none": 1, "malformed": 1, "wrong": 2}
    assert caplog.messages == [
        'login of user "first" from 192.0.2.1 failed',
        f'login of user "no\\nbody{"x" * 57}" from 192.0.2.1 failed',
    ]
