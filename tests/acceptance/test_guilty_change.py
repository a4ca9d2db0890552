"""After a failed reload, revert the change whose line HAProxy names, and load the other changes."""

import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.acceptance.quick import PLAIN, Quick
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import USER
from tests.until import until

CONFIG = (
    PLAIN
    + """\
frontend site from plain
    bind 127.0.0.1:{site}
    http-request return status 204
"""
)
# Milliseconds. No reload begins before `load` forces it.
NEVER = 3_600_000
LOADED, FAILED = ("succeeded", None), ("failed", "taken_back")
COMMAND = """\
import socket
with socket.socket(socket.AF_UNIX) as master:
    master.connect({socket!r})
    master.sendall(b"reload\\n")
    while master.recv(65536):
        pass
"""


@pytest.fixture
def taken() -> Iterator[int]:
    """Return a port that is in use, so that HAProxy cannot bind to it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield int(listener.getsockname()[1])


@contextmanager
def beside(directory: Path, version: str = "3.2", **more: Any) -> Iterator[Quick]:
    text = CONFIG.format(site=free_port())
    with HAProxy(directory, text, binary=binaries.exactly(version), master=True) as haproxy:
        # The server runs this command if it cannot use the socket of the master, as for a moment after a failed reload.
        command = directory / "reload"
        command.write_text(f"#!{sys.executable}\n" + COMMAND.format(socket=str(haproxy.master)))
        command.chmod(0o755)
        with Quick(haproxy, delay=NEVER, reload={"reload_cmd": str(command)}, **more) as sidecar:
            yield sidecar


def bind(sidecar: Quick, name: str, port: int, **more: Any) -> httpx2.Response:
    """Add a bind line, without a version, like clients that do not coordinate their changes."""
    return sidecar.post("frontends/site/binds", {"name": name, "address": "127.0.0.1", "port": port}, version=sidecar.version(), **more)


def binds(sidecar: Quick) -> list[str]:
    return [each["name"] for each in sidecar.get("frontends/site/binds").json() if each["name"] in ("one", "two", "bad")]


def load(sidecar: Quick, identity: str) -> dict[str, Any]:
    """Run a pending reload at once, and return its outcome."""
    answer = sidecar.post("/v3/sidecar/reloads")
    assert answer.status_code == 202, answer.text
    return sidecar.outcome(identity)


def record(sidecar: Quick, identity: str) -> dict[str, Any]:
    return dict(sidecar.get(f"/v3/sidecar/reloads/{identity}").json())


def edit(sidecar: Quick, line: str) -> str:
    """Edit the file by hand, wait until the server has read it, and return the new text."""
    text, version = sidecar.text().replace("    http-request", f"    {line}\n    http-request"), sidecar.version()
    sidecar.haproxy.write(text)
    until(lambda: sidecar.version() > version)
    return text


def outcomes(shown: dict[str, Any]) -> list[str]:
    return [each["outcome"] for each in shown["changes"]]


def in_the_history(sidecar: Quick, shown: dict[str, Any]) -> list[tuple[str, str, str | None]]:
    """Return what the history entry of each change says: the id and status of the reload, and whether the change was kept."""
    entries = [sidecar.get(f"/v3/sidecar/history/{each['entry']}").json().get("reload", {}) for each in shown["changes"]]
    return [(each.get("id", ""), each.get("status", ""), each.get("outcome")) for each in entries]


def all_in_the_history(sidecar: Quick) -> list[tuple[str, str | None]]:
    """Return the same for all changes, the newest first."""
    found = [each.get("reload", {}) for each in sidecar.get("/v3/sidecar/history", author=USER[0]).json()]
    return [(each.get("status", ""), each.get("outcome")) for each in found]


def answers(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def write_three(sidecar: Quick, taken: int) -> tuple[str, list[int]]:
    """Add three bind lines, one with the used port. Return the id of their common reload, and the two good ports."""
    ports = [free_port(), free_port()]
    written = [bind(sidecar, "one", ports[0]), bind(sidecar, "bad", taken), bind(sidecar, "two", ports[1])]
    assert [each.status_code for each in written] == [202, 202, 202], [each.text for each in written]
    (identity,) = {each.headers["Reload-Id"] for each in written}
    return identity, ports


@pytest.mark.parametrize("version", [pytest.param("3.2", marks=pytest.mark.soak), "3.4"])
def test_three_clients_of_which_one_brings_a_line_that_fails(tmp_path: Path, taken: int, version: str) -> None:
    with beside(tmp_path, version) as sidecar:
        identity, ports = write_three(sidecar, taken)
        failed = load(sidecar, identity)
        assert failed["status"] == "failed" and str(taken) in failed["response"]
        assert set(failed) == {"id", "status", "reload_timestamp", "response"}
        shown = record(sidecar, identity)
        assert outcomes(shown) == ["kept", "taken_back", "kept"]
        assert [each["version"] for each in shown["changes"]] == [2, 3, 4]
        assert all(each["author"] == USER[0] and each["request_id"] for each in shown["changes"])
        assert "name bad" in sidecar.get(shown["changes"][1]["raw"]).text
        rest = load(sidecar, shown["rest_reload_id"])
        assert rest["status"] == "succeeded", rest
        assert binds(sidecar) == ["one", "two"] and all(map(answers, ports))
        assert shown["restored_version"] == sidecar.version() == 5
        loaded, failed = (rest["id"], "succeeded", None), (identity, "failed", "taken_back")
        until(lambda: in_the_history(sidecar, shown) == [loaded, failed, loaded])
        made = [sidecar.get(f"/v3/sidecar/history/{each['entry']}").json()["outcome"] for each in shown["changes"]]
        assert made == ["reloaded", "taken_back", "reloaded"], "not `scheduled` any more"


def test_haproxy_2_6_says_nothing_and_everything_goes_back(tmp_path: Path, taken: int) -> None:
    with beside(tmp_path, "2.6") as sidecar:
        identity, ports = write_three(sidecar, taken)
        assert load(sidecar, identity)["status"] == "failed"
        shown = record(sidecar, identity)
        assert outcomes(shown) == ["taken_back"] * 3 and "rest_reload_id" not in shown
        assert binds(sidecar) == [] and not any(map(answers, ports))


def test_two_that_fail_go_one_after_the_other(tmp_path: Path, taken: int) -> None:
    """HAProxy names both lines at once, or the second line only after the first was reverted."""
    with beside(tmp_path) as sidecar, socket.create_server(("127.0.0.1", 0)) as other:
        written = [bind(sidecar, "bad", taken), bind(sidecar, "one", port := free_port()), bind(sidecar, "two", other.getsockname()[1])]
        identity = written[0].headers["Reload-Id"]
        gone = set[int]()
        while identity:
            load(sidecar, identity)
            shown = record(sidecar, identity)
            gone |= {each["version"] for each in shown.get("changes", ()) if each["outcome"] == "taken_back"}
            identity = shown.get("rest_reload_id", "")
        assert shown["status"] == "succeeded" and gone == {2, 4}
        assert binds(sidecar) == ["one"] and answers(port)


def test_a_collision_takes_everything_back(tmp_path: Path, taken: int) -> None:
    """The failing change has added a frontend, to which a later change has added a rule."""
    with beside(tmp_path) as sidecar:
        first = sidecar.text().rstrip("\n") + f"\nfrontend bad\n    mode http\n    bind 127.0.0.1:{taken}\n"
        identity = sidecar.post("raw", first, version=1).headers["Reload-Id"]
        second = sidecar.post("frontends/bad/http_request_rules/0", {"type": "return", "return_status_code": 204}, version=2)
        assert second.headers.get("Reload-Id") == identity, second.text
        load(sidecar, identity)
        shown = record(sidecar, identity)
        assert outcomes(shown) == ["taken_back", "taken_back"] and "rest_reload_id" not in shown
        assert "frontend bad" not in sidecar.text()


def test_forced_reloads(tmp_path: Path, taken: int) -> None:
    """A good change with a forced reload is answered with the reload that has loaded it; a bad change with HAProxy's message."""
    with beside(tmp_path) as sidecar:
        waiting = bind(sidecar, "bad", taken)
        forced = bind(sidecar, "one", port := free_port(), force_reload=True)
        assert forced.status_code == 201 and answers(port), forced.text
        assert record(sidecar, waiting.headers["Reload-Id"])["status"] == "failed"
        waiting = bind(sidecar, "two", port := free_port())
        forced = bind(sidecar, "bad", taken, force_reload=True)
        assert forced.status_code == 400 and f"[127.0.0.1:{taken}]" in forced.json()["message"]
        shown = record(sidecar, waiting.headers["Reload-Id"])
        assert outcomes(shown) == ["kept", "taken_back"]
        assert (rest := load(sidecar, shown["rest_reload_id"]))["status"] == "succeeded", rest
        assert binds(sidecar) == ["one", "two"] and answers(port)
        until(lambda: all_in_the_history(sidecar) == [FAILED, LOADED, LOADED, FAILED])


def test_who_waits_is_told_of_the_own_change(tmp_path: Path, taken: int) -> None:
    with beside(tmp_path) as sidecar, ThreadPoolExecutor() as clients:
        identity = bind(sidecar, "two", free_port()).headers["Reload-Id"]
        good = clients.submit(bind, sidecar, "one", port := free_port(), wait="5m")
        until(lambda: sidecar.version() == 3)
        bad = clients.submit(bind, sidecar, "bad", taken, wait="5m")
        until(lambda: sidecar.version() == 4)
        load(sidecar, identity)
        load(sidecar, record(sidecar, identity)["rest_reload_id"])
        assert good.result().status_code == 201 and answers(port), good.result().text
        assert bad.result().status_code == 400 and f"[127.0.0.1:{taken}]" in bad.result().json()["message"]


def test_an_edit_by_hand_is_kept(tmp_path: Path, taken: int) -> None:
    with beside(tmp_path) as sidecar:
        edit(sidecar, f"bind 127.0.0.1:{(port := free_port())}")
        identity = bind(sidecar, "bad", taken).headers["Reload-Id"]
        assert load(sidecar, identity)["status"] == "failed"
        shown = record(sidecar, identity)
        assert [(each["author"], each["outcome"]) for each in shown["changes"]] == [("outside", "kept"), (USER[0], "taken_back")]
        assert (rest := load(sidecar, shown["rest_reload_id"]))["status"] == "succeeded", rest
        assert answers(port)


def test_an_edit_by_hand_that_fails_can_be_had_again(tmp_path: Path, taken: int) -> None:
    with beside(tmp_path) as sidecar:
        edited = edit(sidecar, f"bind 127.0.0.1:{taken}")
        identity = bind(sidecar, "one", port := free_port()).headers["Reload-Id"]
        assert load(sidecar, identity)["status"] == "failed"
        shown = record(sidecar, identity)
        assert outcomes(shown) == ["taken_back", "kept"]
        edit_by_hand = shown["changes"][0]
        assert sidecar.get(edit_by_hand["raw"]).text == edited
        text = f"an edit by another process, was reverted; entry {edit_by_hand['entry']} of the history has it"
        assert text in sidecar.log.read_text()
        sent = sidecar.get("/v3/sidecar/events", types="reload", since="1m", end_after="0.1s").text
        assert text in sent and f'"rest_reload_id":"{shown["rest_reload_id"]}"' in sent
        assert (rest := load(sidecar, shown["rest_reload_id"]))["status"] == "succeeded", rest
        assert answers(port)
        assert str(taken) not in sidecar.text()


def test_a_server_that_is_killed_before_the_reload(tmp_path: Path, taken: int) -> None:
    with beside(tmp_path) as sidecar:
        identity, ports = write_three(sidecar, taken)
        sidecar.kill()
        sidecar.start()
        assert load(sidecar, identity)["status"] == "failed"
        shown = record(sidecar, identity)
        assert outcomes(shown) == ["kept", "taken_back", "kept"]
        assert (rest := load(sidecar, shown["rest_reload_id"]))["status"] == "succeeded", rest
        assert binds(sidecar) == ["one", "two"] and all(map(answers, ports))
