"""Callers with tokens, before anything is asked of them."""

import asyncio
from pathlib import Path

import pytest

from dataplaneapi.auth.bearers import Bearers, parse_bearer
from dataplaneapi.auth.caller import TOKENS
from dataplaneapi.auth.tokens import Tokens
from dataplaneapi.auth.users import Users
from dataplaneapi.settings.roles import CERTIFICATES, USERS, read_roles
from dataplaneapi.settings.table import Settings
from haproxy_native.text.document import Document


@pytest.mark.parametrize(
    ("authorization", "bearer"),
    [(b"Bearer abc", b"abc"), (b"bearer  abc ", b"abc"), (b"Bearer", b""), (b"Basic abc", None), (b"", None), (b"Bearerabc", None)],
)
def test_headers(authorization: bytes, bearer: bytes | None) -> None:
    assert parse_bearer(authorization) == bearer


def test_admitted_and_refused(tmp_path: Path) -> None:
    settings = Settings(dataplane_storage_dir=str(tmp_path), users=[{"name": "ann", "password": "x"}])
    bearers = Bearers(Users(settings, lambda: Document.parse(b"")), Tokens(tmp_path / "tokens.json"))
    token, text = asyncio.run(bearers.tokens.create(["viewer"], USERS, "ann", 60.0, ["10.0.0.0/8"]))
    secret = text.encode()
    assert bearers.admits(secret, "10.0.0.1") and not bearers.admits(secret, "192.0.2.1") and not bearers.admits(b"dps_", "10.0.0.1")
    used = bearers.tokens.find(secret)
    assert used and used.used_from == "10.0.0.1"
    assert bearers.caller(secret).name == f"token {token.id} of ann"
    assert bearers.refusal(secret, "192.0.2.1") == f"token {token.id} may not be used from 192.0.2.1"
    asyncio.run(bearers.tokens.revoke(token))
    assert not bearers.admits(secret, "10.0.0.1") and "is not known" in bearers.refusal(secret, "10.0.0.1")
    assert bearers.caller(secret).name == ""


@pytest.mark.parametrize(("group", "is_orphan"), [(USERS, True), (CERTIFICATES, False)])
def test_a_creator_that_is_gone(tmp_path: Path, group: str, is_orphan: bool) -> None:
    bearers = Bearers(Users(Settings(dataplane_storage_dir=str(tmp_path)), lambda: Document.parse(b"")), Tokens(tmp_path / "tokens.json"))
    token, _ = asyncio.run(bearers.tokens.create(["viewer"], group, "bob", 60.0))
    assert bearers.of(token).is_orphan is is_orphan


def test_the_rights_of_a_caller_who_is_not_there(tmp_path: Path) -> None:
    users = [{"name": "ann", "password": "x", "role": "admin"}]
    settings = Settings(dataplane_storage_dir=str(tmp_path), users=users)
    bearers = Bearers(Users(settings, lambda: Document.parse(b"")), Tokens(tmp_path / "tokens.json"))
    roles = read_roles({}, {"users": {"bob": "viewer"}, "certificates": {"bob": "viewer"}}, users)
    token, _ = asyncio.run(bearers.tokens.create(["viewer"], USERS, "ann", 60.0))
    name = f"token {token.id} of ann"

    def why(group: str, name: str) -> str | None:
        """None for one with rights."""
        rights = bearers.rights_now(roles, group, name)
        assert rights is not None
        return None if rights.rules else rights.why

    assert bearers.rights_now(None, USERS, "bob") is bearers.rights_now(None, USERS, "ann") is None
    assert why(USERS, "ann") is why(CERTIFICATES, "bob") is why(TOKENS, name) is None
    assert why(USERS, "bob") == "bob is no user any more" and why(CERTIFICATES, "ann") == ""
    asyncio.run(bearers.tokens.revoke(token))
    assert why(TOKENS, name) == f"{name} has ended"
