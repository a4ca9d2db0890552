"""What docs/library.md shows is run beside a real HAProxy, without `dataplaneapi`, and prints what it says."""

import re
import subprocess
import sys
from pathlib import Path

from tests.haproxy.process import HAProxy
from tests.rules.sources import CHECKOUT

PAGE = CHECKOUT / "docs" / "library.md"
BLOCKS = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)
CONFIG = """\
global
    stats socket {stats} mode 600 level admin

defaults base
    mode http
    timeout connect 5s
    timeout client 5s
    timeout server 5s

backend app from base
    balance   roundrobin
    server one 127.0.0.1:8081 weight 10
    server two 127.0.0.1:8082
"""
ALONE = "import sys; sys.modules.update(dataplaneapi=None, fastapi=None)\n"


def test_the_page_is_typed(tmp_path: Path) -> None:
    for number, (code, _) in enumerate(BLOCKS.findall(PAGE.read_text())):
        (tmp_path / f"block{number}.py").write_text(code)
    # With the settings, and the cache, of `make check`.
    command = [sys.executable, "-m", "mypy", "--strict", *sorted(map(str, tmp_path.glob("*.py")))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=CHECKOUT)
    assert done.returncode == 0, done.stdout


def test_the_page_is_true(tmp_path: Path) -> None:
    blocks = BLOCKS.findall(PAGE.read_text())
    assert len(blocks) == PAGE.read_text().count("```python")
    with HAProxy(tmp_path, CONFIG) as haproxy:
        # The page names the usual places; the test has others.
        places = {
            "/etc/haproxy": str(tmp_path),
            "/var/lib/sidecar": str(tmp_path / "sidecar"),
            "/run/haproxy-master.sock": str(haproxy.master),
            '="haproxy"': f'="{haproxy.binary}"',
        }
        for code, printed in blocks:
            for usual, ours in places.items():
                code, printed = code.replace(usual, ours), printed.replace(usual, ours)
            command = [sys.executable, "-W", "error", "-c", ALONE + code]
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=CHECKOUT)
            assert done.stderr == ""
            assert done.stdout.strip() == printed.strip()
