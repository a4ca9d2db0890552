"""Check the files of the demo: both are complete, and HAProxy accepts its configuration."""

import socket
import subprocess
from pathlib import Path

from demo.stage import claim_port, prepare


def test_files_are_filled_in(tmp_path: Path) -> None:
    stage = prepare(tmp_path, "/usr/sbin/haproxy")
    texts = [(tmp_path / name).read_text() for name in ("haproxy.cfg", "dataplaneapi.yaml")]
    assert not any("@" in text for text in texts)
    assert f"port: {stage.api}\n" in texts[1]
    assert f"bind 127.0.0.1:{stage.site}\n" in texts[0]


def test_every_haproxy_takes_the_configuration(haproxy_binaries: str, tmp_path: Path) -> None:
    prepare(tmp_path, haproxy_binaries)
    assert subprocess.run([haproxy_binaries, "-c", "-f", str(tmp_path / "haproxy.cfg")], capture_output=True, check=False).returncode == 0


def test_a_port_in_use_is_passed_over() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert claim_port(port) != port


def test_no_port_is_claimed_twice() -> None:
    """The port is free until the demo's server listens on it, and a HAProxy may even share it."""
    first = claim_port(0)
    assert claim_port(first) != first
