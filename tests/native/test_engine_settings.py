"""Where the last known good text is kept."""

from pathlib import Path

from haproxy_native.engine_settings import EngineSettings


def test_the_copy() -> None:
    plain = {"file": Path("/etc/haproxy/haproxy.cfg"), "storage": Path("/var/own")}
    assert EngineSettings(**plain).copy == Path("/etc/haproxy/haproxy.cfg.lkg")
    assert EngineSettings(**plain, backups=Path("/backups")).copy == Path("/backups/haproxy.cfg.lkg")
    assert EngineSettings(**plain, after=("/etc/haproxy/more",)).copy == Path("/var/own/running.cfg")
