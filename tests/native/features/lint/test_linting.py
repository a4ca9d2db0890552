"""The checks over an engine."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from haproxy_native.disk.directories import Directory
from haproxy_native.features.lint import lint
from haproxy_native.features.lint.finding import Finding
from haproxy_native.features.lint.lint import Linting
from tests.native.engines import run, running_engine


def test_the_event_loop_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go = threading.Event(), threading.Event()
    findings = lint.findings

    def waiting(*given: Any) -> list[Finding]:
        begun.set()
        assert go.wait(60), "the event loop waits for the findings"
        return findings(*given)

    monkeypatch.setattr(lint, "findings", waiting)

    async def linted() -> None:
        (tmp_path / "haproxy.cfg").write_text("backend b\n  server a 10.0.0.1:80\n  server b 10.0.0.2:80\n")
        async with running_engine(tmp_path) as engine:
            work = asyncio.ensure_future(Linting(engine).findings())
            while not begun.is_set():
                await asyncio.sleep(0.01)
            go.set()
            assert await work

    run(linted())


def test_maps_outside_of_the_storage_are_not_quoted(tmp_path: Path) -> None:
    """The caller names the file in a transaction; this server may read what the caller may not."""
    secrets, stored = tmp_path / "secrets", tmp_path / "maps/routes.map"
    stored.parent.mkdir()
    secrets.write_text("password: hunter2\n")
    stored.write_text("/a nowhere\n")
    rules = "".join(f"  use_backend %[path,map({path})]\n" for path in (secrets, stored, stored.parent / "../secrets"))

    async def linted() -> None:
        (tmp_path / "haproxy.cfg").write_text(f"frontend f\n  bind :80\n{rules}\nbackend b\n  server s 127.0.0.1:1\n")
        async with running_engine(tmp_path, directories={"maps": Directory(stored.parent, "maps_dir")}) as engine:
            found = [each.what for each in await Linting(engine).findings() if each.id == "map-value-undefined"]
            assert [what for what in found if "nowhere" in what] and not [what for what in found if "hunter2" in what]

    run(linted())


def test_findings_have_the_path_of_the_file_and_what_the_caller_may_read(tmp_path: Path) -> None:
    async def linted() -> None:
        (tmp_path / "haproxy.cfg").write_text("backend b\n  server a 10.0.0.1:80 resolvers none\n")
        async with running_engine(tmp_path) as engine:
            found = await Linting(engine).findings()
            assert {each.file for each in found} == {str(engine.context.current.path)} and {each.object for each in found} == {"backend/b"}
            assert await Linting(engine).findings(may_read=lambda object_: object_ != "backend/b") == []

    run(linted())


def test_stored_files_that_nothing_names(tmp_path: Path) -> None:
    """A directory that is served, a list of certificates and a variable name files, too."""
    for name in ("maps", "general", "lists"):
        (tmp_path / name).mkdir()
    for name in ("maps/used.map", "maps/left.map", "general/used.http", "general/left.http", "general/open.http", "general/both.pem.rsa"):
        (tmp_path / name).write_text("a b\n")
    lines = f"http-request set-header X %[path,map({tmp_path}/maps/used.map)]\n  errorfile 503 {tmp_path}/general/used.http"

    async def linted() -> None:
        (tmp_path / "haproxy.cfg").write_text(
            f'frontend f\n  bind :80\n  {lines}\n  errorfile 500 "$DIR/open.http"\n  bind :81 ssl crt {tmp_path}/general/both.pem\n'
        )
        stores = {"maps": Directory(tmp_path / "maps", "maps_dir"), "general": Directory(tmp_path / "general", "general_storage_dir")}
        async with running_engine(tmp_path, directories=stores) as engine:
            found = {each.object: each for each in await Linting(engine).findings() if each.id == "file-unused"}
            assert set(found) == {"map/left.map", "general/left.http"}
            assert found["map/left.map"].file == str(tmp_path / "maps/left.map")
            assert await Linting(engine).findings(may_read=lambda object_: False) == []

    run(linted())
