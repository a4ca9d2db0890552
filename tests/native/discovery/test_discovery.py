"""Definitions and their pollers: what is on disk and what is at work agree."""

import asyncio
import logging
from pathlib import Path

import pytest

from haproxy_native.access.initiator import RightsOf
from haproxy_native.access.rights import ALL, VERBS, AccessRule, Rights
from haproxy_native.discovery.discovery import Discovery
from haproxy_native.disk.directories import Directory
from haproxy_native.editing.editor import Editor
from haproxy_native.errors import Conflict, NotFound, Unreadable
from haproxy_native.request_context import NOBODY, Author
from tests.haproxy.process import free_port
from tests.native.engines import running_engine

OFF = {"address": "127.0.0.1", "port": 9, "enabled": False, "retry_timeout": 60}


def at_work(directory: Path, work) -> None:
    (directory / "haproxy.cfg").write_text("global\n")

    async def run() -> None:
        async with running_engine(directory) as engine, discovery(directory, engine) as each:
            await work(each.kinds["consul"])

    asyncio.run(run())


def discovery(directory: Path, engine, rights_of: RightsOf = lambda group, name: None) -> Discovery:
    return Discovery(engine, Editor(), Directory(directory / "storage", "dataplane_storage_dir"), rights_of)


def test_without_a_known_creator_one_stops_where_there_are_roles(tmp_path: Path) -> None:
    (tmp_path / "haproxy.cfg").write_text("global\n")
    source = {**OFF, "port": free_port(), "enabled": True, "retry_timeout": 1}

    async def run() -> None:
        roles: list[Rights] = []
        async with running_engine(tmp_path) as engine, discovery(tmp_path, engine, lambda group, name: next(iter(roles), None)) as each:
            consuls = each.kinds["consul"]
            made = consuls.create(source, author=NOBODY)
            await states(consuls, made["id"], "failing")
            roles.append(Rights())
            await states(consuls, made["id"], "stopped")
            assert "creator is unknown" in consuls.get(made["id"])["status"]["last_error"]
            await consuls.replace(made["id"], source, author=Author("ann", group="users", rights=Rights()))
            roles[:] = [Rights(("admin",), (AccessRule(ALL, frozenset(VERBS)),))]
            await states(consuls, made["id"], "failing")

    asyncio.run(run())


async def states(consuls, identity: str, state: str) -> None:
    async with asyncio.timeout(60):
        while consuls.get(identity).get("status", {}).get("state") != state:
            await asyncio.sleep(0.05)


def test_ids_are_given_and_last(tmp_path: Path) -> None:
    async def first(consuls) -> None:
        made = consuls.create({**OFF, "id": "mine"}, author=NOBODY)
        assert made["id"] != "mine"
        replaced = await consuls.replace(made["id"], {**OFF, "id": "other", "name": "n"}, author=NOBODY)
        assert replaced == {**made, "name": "n"} == consuls.get(made["id"])

    async def second(consuls) -> None:
        (kept,) = consuls.list_all()
        await consuls.delete(kept["id"])
        assert consuls.list_all() == []
        for work in (consuls.delete(kept["id"]), consuls.replace(kept["id"], OFF, author=NOBODY)):
            with pytest.raises(NotFound, match="^instance not found$"):
                await work

    at_work(tmp_path, first)
    at_work(tmp_path, second)


def test_an_agent_that_is_away_is_told_until_it_is_disabled(tmp_path: Path) -> None:
    async def work(consuls) -> None:
        made = consuls.create({**OFF, "port": free_port(), "enabled": True, "retry_timeout": 1}, author=NOBODY)
        async with asyncio.timeout(60):
            while "status" not in consuls.get(made["id"]):
                await asyncio.sleep(0.05)
        status = consuls.get(made["id"])["status"]
        assert status["state"] == "failing"
        assert status["last_error"].startswith("/v1/catalog/services: ")
        await consuls.replace(made["id"], OFF, author=NOBODY)
        assert "status" not in consuls.get(made["id"])
        assert "status" not in (tmp_path / "storage/service_discovery/consul.json").read_text()

    at_work(tmp_path, work)


def test_a_file_that_cannot_be_read_is_left_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "storage/service_discovery/consul.json"
    file.parent.mkdir(parents=True)
    file.write_text("{")

    async def work(consuls) -> None:
        for call in (consuls.list_all, lambda: consuls.create(OFF, author=NOBODY)):
            with pytest.raises(Unreadable, match="fix it or remove it"):
                call()
        assert file.read_text() == "{"
        file.unlink()
        assert consuls.list_all() == []

    with caplog.at_level(logging.ERROR):
        at_work(tmp_path, work)
    assert "no service discovery with consul" in caplog.text


def test_what_a_definition_brings_back_is_not_renamed(tmp_path: Path) -> None:
    (tmp_path / "haproxy.cfg").write_text("global\n")

    async def run() -> None:
        async with running_engine(tmp_path) as engine, discovery(tmp_path, engine) as each:
            definition = each.kinds["consul"].create({**OFF, "defaults": "plain"}, author=NOBODY)
            each.kinds["consul"]._authors.table.set_backends(definition["id"], {"c-web"})
            for object_ in ("backend/c-web", "defaults/plain"):
                with pytest.raises(Conflict, match=f"{object_} is .* consul definition {definition['id']}"):
                    each.list_stored_names(object_)
            assert each.list_stored_names("backend/c-web2") == [] == each.list_stored_names("defaults/other")
            async with each.follow_rename("backend/other", "backend/another", author=NOBODY):
                pass

    asyncio.run(run())
