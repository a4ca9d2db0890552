"""Callers with tokens, before anything is asked of them."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from dataplaneapi.auth.bearers import Bearers, parse_bearer
from dataplaneapi.auth.caller import TOKENS, BadToken
from dataplaneapi.auth.tokens import Tokens
from dataplaneapi.auth.users import Users
from dataplaneapi.settings.jwt import JwtSettings
from dataplaneapi.settings.roles import CERTIFICATES, CLAIMS, USERS, read_roles
from dataplaneapi.settings.table import Settings
from haproxy_native.disk.database import Database
from haproxy_native.text.document import Document
from tests.issuing import AUDIENCE, Issuing, signed


@pytest.mark.parametrize(
    ("authorization", "bearer"),
    [(b"Bearer abc", b"abc"), (b"bearer  abc ", b"abc"), (b"Bearer", b""), (b"Basic abc", None), (b"", None), (b"Bearerabc", None)],
)
def test_headers(authorization: bytes, bearer: bytes | None) -> None:
    assert parse_bearer(authorization) == bearer


def test_admitted_and_refused(tmp_path: Path) -> None:
    settings = Settings(dataplane_storage_dir=str(tmp_path), users=[{"name": "ann", "password": "x"}])
    bearers = Bearers(Users(settings, lambda: Document.parse(b"")), Tokens(Database(tmp_path)))
    token, text = asyncio.run(bearers.tokens.create(["viewer"], USERS, "ann", 60.0, ["10.0.0.0/8"]))
    secret = text.encode()
    caller = bearers.known_caller(secret, "10.0.0.1")
    assert caller and not bearers.known_caller(secret, "192.0.2.1") and not bearers.known_caller(b"dps_", "10.0.0.1")
    used = bearers.tokens.find(secret)
    assert used and used.used_from == "10.0.0.1"
    assert caller.name == f"token {token.id} of ann"
    with pytest.raises(BadToken, match=f"token {token.id} may not be used from 192.0.2.1"):
        asyncio.run(bearers.verify(secret, "192.0.2.1"))
    asyncio.run(bearers.tokens.revoke(token, "ann"))
    assert not bearers.known_caller(secret, "10.0.0.1")
    with pytest.raises(BadToken, match="unknown token"):
        asyncio.run(bearers.verify(secret, "10.0.0.1"))


@pytest.mark.parametrize(("group", "is_orphan"), [(USERS, True), (CERTIFICATES, False)])
def test_a_creator_that_is_gone(tmp_path: Path, group: str, is_orphan: bool) -> None:
    bearers = Bearers(Users(Settings(dataplane_storage_dir=str(tmp_path)), lambda: Document.parse(b"")), Tokens(Database(tmp_path)))
    token, _ = asyncio.run(bearers.tokens.create(["viewer"], group, "bob", 60.0))
    assert bearers.caller_of(token).is_orphan is is_orphan


def test_the_rights_of_a_caller_who_is_not_there(tmp_path: Path) -> None:
    users = [{"name": "ann", "password": "x", "role": "admin"}]
    settings = Settings(dataplane_storage_dir=str(tmp_path), users=users)
    bearers = Bearers(Users(settings, lambda: Document.parse(b"")), Tokens(Database(tmp_path)))
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
    assert "are unknown" in (why(CLAIMS, "jwt of ann") or "")
    assert why(USERS, "bob") == "user bob does not exist" and why(CERTIFICATES, "ann") == ""
    asyncio.run(bearers.tokens.revoke(token, "ann"))
    assert why(TOKENS, name) == f"{name} has expired or was revoked"


def test_jwts_of_the_issuer_in_the_settings(tmp_path: Path) -> None:
    async def follow(issuing: Issuing) -> None:
        jwt = JwtSettings(issuing.url, AUDIENCE)
        users = Users(Settings(dataplane_storage_dir=str(tmp_path)), lambda: Document.parse(b""))
        token = signed(issuing.url).encode()
        async with Bearers(users, Tokens(Database(tmp_path))) as bearers:
            assert not bearers.known_caller(token, "-")
            with pytest.raises(BadToken, match="by another server"):
                await bearers.verify(token, "-")
            await bearers.change(jwt)
            assert not bearers.known_caller(token, "-")
            caller = await bearers.verify(token, "-")
            assert bearers.known_caller(token, "-") is caller
            assert caller.name == "jwt of ann" and bearers.refreshed(caller) is caller and not bearers.is_guess(token)
            await bearers.change(replace(jwt))
            assert bearers.known_caller(token, "-"), "the same settings"
            await bearers.change(None)
            assert not bearers.known_caller(token, "-") and bearers.refreshed(caller) is None

    with Issuing("ec1") as issuing:
        asyncio.run(follow(issuing))
