"""Kill a server while HAProxy checks several files. The next server must remove the temporary directories."""

from contextlib import suppress
from pathlib import Path
from threading import Thread

import httpx2
import pytest

from tests.acceptance.quick import PLAIN, Quick
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy
from tests.until import until

CONFIG = (PLAIN + "backend app from plain\n    server one 127.0.0.1:1\n").format()
# Lua runs while HAProxy reads its configuration.
LINGER = "local last = os.time() + 50\nwhile os.time() < last do end\n"


def test_the_next_server_removes_what_a_killed_one_has_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    (temporary / "haproxy-set-of-mine").mkdir()

    def left() -> set[str]:
        return {path.name.rpartition("-")[0] for path in temporary.iterdir()}

    with HAProxy(tmp_path, CONFIG, binary=binaries.exactly("3.2")) as haproxy, Quick(haproxy) as sidecar:
        lua = sidecar.directory / "general_storage_dir" / "linger.lua"
        text = haproxy.file.read_text().replace("global\n", f"global\n    lua-load {lua}\n")

        def plan() -> None:
            parts = {"configuration": ("haproxy.cfg", text.encode()), "general": ("linger.lua", LINGER.encode())}
            with suppress(httpx2.TransportError):
                sidecar.client.post("/v3/sidecar/plan", files=parts)

        asking = Thread(target=plan)
        asking.start()
        until(lambda: {"haproxy-set", "haproxy-check"} <= left())
        sidecar.kill()
        asking.join()
        assert {"haproxy-set", "haproxy-check"} <= left()
        sidecar.start()
        until(lambda: left() == {"haproxy-set-of"})


def test_shadows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next server ends the shadow of a killed server."""
    temporary = tmp_path / "t"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    site = "frontend site from plain\n    bind :80\n    default_backend app\n\n"

    def shadows() -> int:
        found = 0
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                found += f"{temporary}/haproxy-shadow-".encode() in (process / "cmdline").read_bytes()
        return found

    with HAProxy(tmp_path, CONFIG, binary=binaries.exactly("3.2")) as haproxy, Quick(haproxy) as sidecar:
        config = haproxy.file.read_text().replace("backend app", f"{site}backend app")
        assert sidecar.post("/v3/sidecar/explain", {"url": "http://a/", "config": config}).status_code == 200
        assert shadows() == 1
        sidecar.kill()
        assert shadows() == 1
        sidecar.start()
        until(lambda: shadows() == 0)
