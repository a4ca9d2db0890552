"""Reload by the command of a service manager, as the strategy runs it, and check that there is a new worker."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.quick import PLAIN, Quick
from tests.haproxy.process import HAProxy

CONFIG = PLAIN.format() + "backend app from plain\n    server one 127.0.0.1:1\n"
# A script in place of the service manager: its expected arguments, and the signal that it sends.
MANAGERS = {
    "systemd": ("sudo", "-n systemctl reload haproxy.service"),
    "s6": ("s6-svc", "-2 /run/service/haproxy"),
}


@pytest.fixture(params=MANAGERS)
def sidecar(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Quick]:
    program, words = MANAGERS[request.param]
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    service = {"service_name": "/run/service/haproxy"} if request.param == "s6" else {}
    with HAProxy(tmp_path, CONFIG, master=False) as haproxy:
        script = tmp_path / "bin" / program
        script.write_text(f'#!/bin/sh\n[ "$*" = "{words}" ] || exit 64\nkill -USR2 {haproxy.pid}\n')
        script.chmod(0o755)
        reload = {"reload_strategy": request.param, "reload_cmd": "", **service}
        with Quick(haproxy, reload=reload) as running:
            yield running


def test_a_new_worker_is_what_counts(sidecar: Quick) -> None:
    before = sidecar.haproxy.worker_pid()
    answer = sidecar.post("backends", {"name": "new", "from": "plain"}, version=sidecar.version())
    assert sidecar.reloaded(answer)["status"] == "succeeded"
    assert sidecar.haproxy.worker_pid() != before
    assert "new" in sidecar.haproxy.ask("show backend").split()
