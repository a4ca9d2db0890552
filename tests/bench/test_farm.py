"""Check the measured configuration: HAProxy accepts it, and it has the objects of the requests."""

import subprocess
from pathlib import Path

import pytest

from bench.farm import LARGE, RULES, farm, server_line, text


@pytest.mark.parametrize("size", [1, 25, LARGE + 1])
def test_haproxy_takes_it(size: int, tmp_path: Path, haproxy_binary: str) -> None:
    site = farm(size, tmp_path, haproxy_binary)
    checked = subprocess.run([haproxy_binary, "-c", "-f", str(site.haproxy.file)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    assert text(size).count("    server ") == size
    assert text(size).count("    http-request ") == (RULES if size > LARGE else 0)


def test_fifty_thousand_servers_make_a_file_of_five_megabytes() -> None:
    assert 5e6 < len(text(50_000)) < 6e6


def test_a_server_s_body_is_its_line(tmp_path: Path, haproxy_binary: str) -> None:
    body = farm(300, tmp_path, haproxy_binary).server_body(299, 7)
    assert server_line(299, 7).split()[1:5] == [body["name"], f"{body['address']}:{body['port']}", "weight", "7"]
