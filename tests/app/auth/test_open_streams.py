"""Streams end with the rights of their callers."""

import asyncio
from contextlib import ExitStack
from pathlib import Path

from dataplaneapi.auth.bearers import Bearers
from dataplaneapi.auth.caller import Caller
from dataplaneapi.auth.open_streams import OpenStreams
from dataplaneapi.auth.tokens import Tokens
from dataplaneapi.auth.users import Users
from dataplaneapi.settings.roles import USERS, Roles, read_roles
from dataplaneapi.settings.table import Settings
from haproxy_native.disk.database import Database
from haproxy_native.text.document import Document


def roles(**users: str) -> Roles | None:
    return read_roles({}, {"users": users, "certificates": {"root": "admin"}}, [])


def test_a_review(tmp_path: Path) -> None:
    people = [{"name": "ann", "password": "x"}, {"name": "bob", "password": "x"}]
    users = Users(Settings(dataplane_storage_dir=str(tmp_path), users=people), lambda: Document.parse(b""))
    bearers = Bearers(users, Tokens(Database(tmp_path)))
    streams, closed = OpenStreams(bearers), list[str]()
    token, _ = asyncio.run(bearers.tokens.create(["viewer"], USERS, "ann", 60.0))
    before = roles(ann="editor", bob="viewer")
    with (
        streams.track(bearers.caller_of(token), before, lambda: closed.append("token")),
        streams.track(Caller(USERS, "ann"), before, lambda: closed.append("ann")),
        streams.track(Caller(USERS, "bob"), before, lambda: closed.append("bob")),
    ):
        streams.review(roles(ann="editor", bob="viewer"))
        assert closed == []
        streams.review(roles(ann="editor", bob="operator"))
        assert closed == ["bob"]
        asyncio.run(bearers.tokens.revoke(token, "ann"))
        streams.review(before)
        assert closed == ["bob", "token"]
    streams.review(None)
    assert closed == ["bob", "token"], "those that are over are forgotten"


def test_users_that_change(tmp_path: Path) -> None:
    """Without roles, too: who is no user any more, who has another password, and the token of the former."""

    def settings(**passwords: str) -> Settings:
        people = [{"name": name, "password": password} for name, password in passwords.items()]
        return Settings(dataplane_storage_dir=str(tmp_path), users=people)

    users = Users(settings(ann="x", bob="x", eve="x"), lambda: Document.parse(b""))
    bearers = Bearers(users, Tokens(Database(tmp_path)))
    streams, closed = OpenStreams(bearers), list[str]()
    token, _ = asyncio.run(bearers.tokens.create([], USERS, "ann", 60.0))
    callers = {
        "token": bearers.caller_of(token),
        "node": Caller("certificates", "ann"),
        **{name: Caller(USERS, name) for name in ("ann", "bob", "eve")},
    }
    with ExitStack() as opened:
        for name, caller in callers.items():
            opened.enter_context(streams.track(caller, None, lambda name=name: closed.append(name)))  # type: ignore[misc]
        users.read(settings(eve="x", bob="x", ann="x"))
        streams.review(None)
        assert closed == []
        users.read(settings(bob="y", eve="x"))
        streams.review(None)
    assert sorted(closed) == ["ann", "bob", "token"]
