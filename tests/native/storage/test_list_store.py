"""How a list gets what its file holds: live, or by a reload and why."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from haproxy_native.disk.directories import Directory
from haproxy_native.storage.list_store import ListStore
from tests.haproxy.process import HAProxy
from tests.native.engines import run, running_engine

CONFIG = """\
global
  stats socket {{stats}} mode 600 level admin
defaults
  mode http
  timeout client 5s
  timeout connect 5s
  timeout server 5s
frontend f
  bind unix@{place}/f.sock
  http-request deny if {{ src -f {place}/acls/list.acl }}
  http-request set-header X %[path,map({place}/maps/list.map)]
"""
CONTENT = {"acls": "192.0.2.1\n", "maps": "a b\n"}
NEW = {"acls": "192.0.2.1\n192.0.2.2\n", "maps": "a b\nc d\n"}


@pytest.mark.parametrize(("name", "word"), [("acls", "an ACL"), ("maps", "a map")])
def test_plans(tmp_path: Path, name: str, word: str) -> None:
    for each, content in CONTENT.items():
        (tmp_path / each).mkdir()
        (tmp_path / each / f"list.{each[:-1]}").write_text(content)
    path, new = tmp_path / name / f"list.{name[:-1]}", tmp_path / "new"
    new.write_text(NEW[name])

    async def work(haproxy: HAProxy) -> None:
        directories = {each: Directory(tmp_path / each, f"{each}_dir") for each in CONTENT}
        async with running_engine(tmp_path, haproxy, directories=directories) as engine:
            store = engine.stores[name]
            assert isinstance(store, ListStore) and store.format.word == word

            async def planned(file: Path, content: Path | None) -> tuple[int, list[str], bool]:
                plan = await store.plan(engine.context, file, content)
                return len(plan.steps), [reason.why for reason in plan.reasons], plan.used

            assert await planned(path, new) == (1, [], True)
            assert await planned(path, None) == (0, [f"HAProxy still has {path.name} loaded"], True)
            assert await planned(path.with_name("other"), new) == (0, [], False)
            store.format = replace(store.format, largest=3)
            assert await planned(path, new) == (0, [f"{new.stat().st_size} bytes are loaded faster by a reload than by commands"], True)
            await asyncio.to_thread(haproxy.stop)
            steps, reasons, used = await planned(path, new)
            assert (steps, len(reasons), used) == (0, 1, True)
            assert reasons[0].startswith(f"it is not known whether HAProxy has loaded {path.name}: ")

    with HAProxy(tmp_path, CONFIG.format(place=tmp_path)) as haproxy:
        run(work(haproxy))
