"""Run the demo as a user does: its three lines work, and it leaves nothing behind."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from demo.__main__ import moved
from demo.stage import API, SITE, Stage
from tests.demo.test_children import is_alive
from tests.haproxy import binaries
from tests.rules.sources import CHECKOUT


@pytest.fixture
def demo(haproxy_binary: str, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, "HAPROXY_BIN": haproxy_binary, "TMPDIR": "/tmp"}
    with subprocess.Popen([sys.executable, "-m", "demo"], cwd=CHECKOUT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def welcome(demo: subprocess.Popen[str]) -> str:
    """Return the output of the demo until it waits. A demo that cannot start ends by itself."""
    text = ""
    assert demo.stdout
    while "Ctrl-C stops both" not in text:
        line = demo.stdout.readline()
        assert line, f"it ended:\n{text}"
        text += line
    return text


def curl_lines(text: str) -> list[str]:
    return [line.strip() for line in re.sub(r"\\\n", "", text).splitlines() if line.startswith("  curl")]


def run(line: str) -> str:
    environment = {**os.environ, "PATH": binaries.path_with_curl()}
    return subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True, env=environment).stdout


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_its_three_lines_work(demo: subprocess.Popen[str]) -> None:
    visit, look, ask = curl_lines(welcome(demo))
    assert sorted(run(visit).splitlines()) == ["page one", "page two"]
    before = run(look)
    assert [server["name"] for server in json.loads(before)] == ["one", "two"]
    plan = json.loads(run(ask))
    assert len(plan["commands"]) == 2
    assert plan["reasons"] == []
    assert run(look) == before


def test_it_looks_alive(demo: subprocess.Popen[str]) -> None:
    """The page shows at once: traffic, a server that is down, a split, a certificate, and roles."""
    text = welcome(demo)
    found = re.search(r"(http://127\.0\.0\.1:\d+)/ is the page", text)
    assert found

    def ask(path: str, user: str = "admin") -> Any:
        return json.loads(run(f"curl -s -u {user}:demo '{found[1]}/v3/{path}'"))

    (split,) = ask("sidecar/splits")
    assert split["shares"] == {"shop_stable": 90, "shop_next": 10}
    (certificate,) = ask("services/haproxy/storage/ssl_certificates")
    assert certificate["storage_name"] == "shop.example.pem"
    assert [ask("sidecar/whoami", user)["roles"] for user in ("admin", "olga", "vera")] == [["admin"], ["operator"], ["viewer"]]
    while ask("services/haproxy/runtime/backends/shop_stable/servers/web3")["operational_state"] != "down":
        time.sleep(0.2)
    while not ask("services/haproxy/stats/native?type=frontend&name=shop")["stats"][0]["stats"].get("hrsp_4xx"):
        time.sleep(0.2)


def test_a_port_that_was_taken_is_named(tmp_path: Path) -> None:
    assert moved(Stage(tmp_path, "haproxy", API, SITE, 1, 2, 3, 4)) == ""
    text = moved(Stage(tmp_path, "haproxy", 40001, 40002, 1, 2, 3, 4))
    assert "Port 8080 is taken, so the site uses 40002" in text
    assert "Port 5555 is taken, so the API uses 40001" in text


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_behind(demo: subprocess.Popen[str], end: int) -> None:
    directory = re.search(r"files: (\S+)\.", welcome(demo))
    assert directory
    started = children(demo.pid)
    assert len(started) == 2
    demo.send_signal(end)
    demo.wait(60)
    for pid in started:
        while is_alive(pid):
            time.sleep(0.02)
    assert end == signal.SIGKILL or not Path(directory[1]).exists()
    shutil.rmtree(directory[1], ignore_errors=True)
