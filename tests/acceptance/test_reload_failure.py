"""Let a reload fail: HAProxy continues as before, the file has the loaded text again with a higher version, and the cause is reported."""

import dataclasses
import re
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from haproxy_native.check.check import CheckSettings
from tests.acceptance.quick import PLAIN, Quick
from tests.acceptance.web import Web
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port

CONFIG = (
    PLAIN
    + """\
frontend site from plain   # by hand
    bind 127.0.0.1:{site}
    default_backend app

backend app from plain
    server one 127.0.0.1:{one} weight 10
"""
)
HEADER = re.compile(r"(# .*\n)*")
Beside = Callable[..., AbstractContextManager[Quick]]


@pytest.fixture
def taken() -> Iterator[int]:
    """Return a port that is in use, so that HAProxy cannot bind to it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield int(listener.getsockname()[1])


@pytest.fixture
def beside(tmp_path: Path) -> Iterator[Beside]:
    """Start HAProxy and the server. `site` returns whether the frontend answers."""
    with Web("one") as web:

        @contextmanager
        def start(config: str = CONFIG, *, master: bool = True, **more: Any) -> Iterator[Quick]:
            site = free_port()
            text = config.format(site=site, one=web.ports["one"])
            with HAProxy(tmp_path, text, binary=binaries.exactly("3.2"), master=master) as haproxy, Quick(haproxy, **more) as sidecar:
                yield sidecar
                assert httpx2.get(f"http://127.0.0.1:{site}/", timeout=60, verify=False).text == "one"

        yield start


def body(text: str) -> str:
    """Return a text without the header of the server."""
    return HEADER.sub("", text, count=1)


def bind(sidecar: Quick, port: int, **more: Any) -> httpx2.Response:
    new = {"name": "more", "address": "127.0.0.1", "port": port}
    return sidecar.post("frontends/site/binds", new, version=sidecar.version(), **more)


def check_that_it_is_as_before(sidecar: Quick, text: str, version: int, worker: int) -> None:
    """Assert that file, memory, version and process agree, and that the next change is planned from the loaded text."""
    assert body(sidecar.text()) == body(text)
    assert f"# _version={version}\n" in sidecar.text()
    assert sidecar.version() == version
    assert sidecar.get("raw").text == sidecar.text()
    assert [each["port"] for each in sidecar.get("frontends/site/binds").json() if each.get("name") == "more"] == []
    assert sidecar.haproxy.worker_pid() == worker
    answer = sidecar.put_server("one", {"weight": 20})
    assert answer.status_code == 200, sidecar.why(answer)
    assert (shown := sidecar.server("one"))
    assert shown.uweight == 20
    assert sidecar.haproxy.worker_pid() == worker


def test_a_port_that_is_taken(beside: Beside, taken: int) -> None:
    with beside() as sidecar:
        text, worker = sidecar.text(), sidecar.haproxy.worker_pid()
        answer = bind(sidecar, taken)
        outcome = sidecar.reloaded(answer)
        assert outcome["status"] == "failed"
        assert str(taken) in outcome["response"]
        record = sidecar.get(f"/v3/sidecar/reloads/{answer.headers['Reload-Id']}").json()
        assert (record["version"], record["restored_version"], record["verified"]) == (2, 3, True)
        assert record["pid_before"] == worker
        assert f"bind 127.0.0.1:{taken} name more" in record["refused"]
        assert record["reasons"][0]["keyword"] == "bind"
        check_that_it_is_as_before(sidecar, text, 3, worker)


def test_a_port_that_is_taken_and_a_reload_that_is_forced(beside: Beside, taken: int) -> None:
    with beside() as sidecar:
        text, worker = sidecar.text(), sidecar.haproxy.worker_pid()
        answer = bind(sidecar, taken, force_reload=True)
        assert answer.status_code == 400
        assert answer.json()["message"].startswith("Reload failed: ")
        assert str(taken) in answer.json()["message"]
        assert "Reload-Id" not in answer.headers
        check_that_it_is_as_before(sidecar, text, 3, worker)


def test_a_transaction_and_a_raw_push_that_cannot_be_loaded(beside: Beside, taken: int) -> None:
    with beside() as sidecar:
        text, worker = sidecar.text(), sidecar.haproxy.worker_pid()
        transaction = sidecar.transaction()
        new = {"name": "more", "address": "127.0.0.1", "port": taken}
        assert sidecar.post("frontends/site/binds", new, transaction_id=transaction).status_code == 202
        assert sidecar.reloaded(sidecar.commit(transaction))["status"] == "failed"
        assert (sidecar.version(), body(sidecar.text())) == (3, body(text))
        pushed = text.replace("    default_backend", f"    bind 127.0.0.1:{taken}\n    default_backend")
        assert sidecar.reloaded(sidecar.post("raw", pushed, version=3))["status"] == "failed"
        check_that_it_is_as_before(sidecar, text, 5, worker)


def test_live_changes_survive_a_later_reload_that_fails(beside: Beside, taken: int) -> None:
    """The file is restored to the state of the process, which has changes at runtime since the last load."""
    with beside() as sidecar:
        worker = sidecar.haproxy.worker_pid()
        assert sidecar.put_server("one", {"weight": 77}).status_code == 200
        text = sidecar.text()
        assert sidecar.reloaded(bind(sidecar, taken))["status"] == "failed"
        assert "weight 77" in sidecar.line("server one ")
        check_that_it_is_as_before(sidecar, text, 4, worker)


def test_a_command_that_fails(beside: Beside) -> None:
    with beside(
        settings={"master_worker_mode": False, "master_runtime": ""}, reload={"reload_cmd": "sh -c 'echo no such service >&2; exit 3'"}
    ) as sidecar:
        text, worker = sidecar.text(), sidecar.haproxy.worker_pid()
        answer = bind(sidecar, free_port())
        outcome = sidecar.reloaded(answer)
        assert outcome["status"] == "failed"
        assert "no such service" in outcome["response"]
        record = sidecar.get(f"/v3/sidecar/reloads/{answer.headers['Reload-Id']}").json()
        assert "exit status 3" in record["error"]
        assert record["verified"] is True
        check_that_it_is_as_before(sidecar, text, 3, worker)


@pytest.mark.parametrize(("command", "status"), [("true", "succeeded"), ("false", "failed")])
def test_without_a_socket_the_exit_code_has_to_do(beside: Beside, command: str, status: str) -> None:
    config = CONFIG.replace("    stats socket {{stats}} level admin expose-fd listeners\n", "    maxconn 100\n")
    with beside(config, master=False, reload={"reload_cmd": command}) as sidecar:
        answer = bind(sidecar, free_port())
        assert sidecar.reloaded(answer)["status"] == status
        record = sidecar.get(f"/v3/sidecar/reloads/{answer.headers['Reload-Id']}").json()
        assert record["verified"] is False
        assert ("name more" in sidecar.text()) == (command == "true")


def test_a_push_that_skips_the_reload(beside: Beside, taken: int) -> None:
    """The text is only on disk. No reload is scheduled, and the plan of the next change has the differences."""
    with beside() as sidecar:
        worker = sidecar.haproxy.worker_pid()
        pushed = sidecar.text().replace("weight 10", "weight 11 cookie x")
        answer = sidecar.post("raw", pushed, version=1, skip_reload=True)
        assert answer.status_code == 201
        assert "Reload-Id" not in answer.headers
        assert "weight 11 cookie x" in sidecar.text()
        assert sidecar.haproxy.worker_pid() == worker
        assert (shown := sidecar.server("one"))
        assert shown.uweight == 10
        assert sidecar.reloaded(sidecar.put_server("one", {"weight": 12}))["status"] == "succeeded"
        assert (shown := sidecar.server("one"))
        assert shown.uweight == 12


def script(directory: Path, text: str, mode: int = 0o755) -> str:
    path = directory / "checker"
    path.write_text(text)
    path.chmod(mode)
    return str(path)


CHECKS = {
    "missing": (None, 503, "no such file"),
    "not executable": (("#!/bin/sh\nexit 0\n", 0o644), 503, "permission denied"),
    "not a program": (("nothing that runs\n", 0o755), 503, "exec format error"),
    "its interpreter is missing": (("#!/nowhere/sh\n", 0o755), 503, "interpreter"),
    "killed by a signal": ((f"#!{sys.executable}\nimport ctypes\nctypes.string_at(0)\n", 0o755), 503, "segmentation fault"),
    "no answer in time": (("#!/bin/sh\nsleep 600\n", 0o755), 503, "no answer within 1 s"),
    "refused": (("#!/bin/sh\necho '[ALERT] (1) : config : it is wrong' >&2\nexit 1\n", 0o755), 400, "it is wrong"),
}


class Hasty(Quick):
    """A server whose checks may take one second instead of a minute."""

    def _command(self) -> list[str]:
        assert "seconds" in {each.name for each in dataclasses.fields(CheckSettings)}
        patch = "check.CheckSettings.__init__ = functools.partialmethod(check.CheckSettings.__init__, seconds=1.0)"
        return [
            sys.executable,
            "-c",
            f"import functools; from haproxy_native.check import check; {patch}; from dataplaneapi.cli import main; main()",
        ]


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hasty]:
    """Run a server whose check command is `checker`, a file that each test writes."""
    directory = tmp_path_factory.mktemp("checked")
    config, binary = CONFIG.format(site=free_port(), one=free_port()), str(directory / "checker")
    with HAProxy(directory, config, binary=binaries.exactly("3.2")) as haproxy, Hasty(haproxy, settings={"haproxy_bin": binary}) as sidecar:
        yield sidecar


@pytest.mark.parametrize("kind", CHECKS)
def test_what_can_happen_to_the_check(checked: Hasty, kind: str) -> None:
    """A temporary failure is answered with 503, so that clients try again. Only a text that is always refused is answered with 400."""
    program, status, says = CHECKS[kind]
    (checked.directory / "checker").unlink(missing_ok=True)
    if program:
        script(checked.directory, *program)
    before = checked.haproxy.file.read_bytes()
    answers = [bind(checked, free_port()), checked.post("raw", checked.text() + "# more\n", version=1)]
    answers.append(checked.post("raw", checked.text(), only_validate=True))
    assert [answer.status_code for answer in answers] == [status] * 3, [answer.text for answer in answers]
    assert all(says in answer.json()["message"].lower() for answer in answers), [answer.text for answer in answers]
    assert checked.haproxy.file.read_bytes() == before
    assert checked.version() == 1
    leftover = [path.name for path in checked.directory.iterdir() if path.name.startswith(".haproxy.cfg")]
    assert leftover == []
