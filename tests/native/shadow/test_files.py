"""A shadow of what is about to be stored."""

import asyncio
from pathlib import Path

import pytest

from haproxy_native.errors import NoShadow
from haproxy_native.shadow.files import Files
from haproxy_native.shadow.process import start
from haproxy_native.text.document import Document
from tests.native.shadow.test_process import http

TEXT = """\
frontend site
    mode http
    timeout client 5s
    bind :80
    http-request return status 200 if { hdr(host),map(hosts.map) -m found }
    http-request return status 404
"""


def status(binary: str, home: Path, files: Files) -> int:
    async def run() -> int:
        # A thread may have another working directory than the test, once a test has entered a mount namespace.
        text = TEXT.replace("hosts.map", str(home / "hosts.map"))
        process = await start(Document.parse(text), binary, home, files=files)
        try:
            seen = await http("/")(process)
            assert seen
            return seen.status
        finally:
            await process.close()

    return asyncio.run(run())


def test_its_content_stands_elsewhere(haproxy_binary: str, tmp_path: Path) -> None:
    (tmp_path / "hosts.map").write_text("other.example shop\n")
    (tmp_path / "staged").write_text("shop.example shop\n")
    assert status(haproxy_binary, tmp_path, {}) == 404
    assert status(haproxy_binary, tmp_path, {tmp_path / "hosts.map": tmp_path / "staged"}) == 200
    with pytest.raises(NoShadow, match="line 5 .*hosts.map"):
        status(haproxy_binary, tmp_path, {tmp_path / "hosts.map": None})
