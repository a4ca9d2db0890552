"""Find the path of the last known good text."""

from pathlib import Path

from haproxy_native.engine import EngineSettings


def test_the_copy() -> None:
    plain = {"file": Path("/etc/haproxy/haproxy.cfg"), "storage": Path("/var/own")}
    assert EngineSettings(**plain).last_good == Path("/etc/haproxy/haproxy.cfg.lkg")
    assert EngineSettings(**plain, backups=Path("/backups")).last_good == Path("/backups/haproxy.cfg.lkg")
    assert EngineSettings(**plain, after=("/etc/haproxy/more",)).last_good is None
