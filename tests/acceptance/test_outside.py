"""Let others write haproxy.cfg and reload HAProxy: their edits are not lost or overwritten, or recorded as the server's own."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.acceptance.quick import PLAIN, SERVICES, Quick, is_live
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port

CONFIG = (
    PLAIN
    + """\
frontend site from plain
    bind 127.0.0.1:{site}
    default_backend app

backend app from plain
    server one 127.0.0.1:1 weight 10
    server two 127.0.0.1:2 weight 10
"""
)


# The server notices an edit by inotify, or when a client writes.
BOTH = pytest.mark.parametrize("sidecar", [False, True], indirect=True, ids=["watching", "not watching"])


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.soak)], ids=["watching", "not watching"])
def sidecar(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Quick]:
    config = CONFIG.format(site=free_port())
    unwatched = {"disable_inotify": request.param}
    with HAProxy(tmp_path, config, binary=binaries.exactly("3.2")) as haproxy, Quick(haproxy, dataplaneapi=unwatched) as running:
        yield running


def in_place(path: Path, text: str) -> None:
    path.write_text(text)


def by_rename(path: Path, text: str) -> None:
    new = path.with_name("written-by-others")
    new.write_text(text)
    os.replace(new, path)


def edited(sidecar: Quick, write: Callable[[Path, str], None] = by_rename) -> str:
    """Edit the file as an operator does: add a comment, and change a weight."""
    text = sidecar.text().replace("server two 127.0.0.1:2 weight 10", "server two 127.0.0.1:2 weight 30   # seen by nobody else")
    write(sidecar.haproxy.file, text)
    return text


def reload_by_hand(sidecar: Quick) -> None:
    before = sidecar.haproxy.worker_pid()
    sidecar.haproxy.ask_master("reload")
    deadline = time.monotonic() + 120
    while sidecar.haproxy.worker_pid() == before:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def weights(sidecar: Quick) -> list[int]:
    return [state.uweight for name in ("one", "two") if (state := sidecar.server(name))]


@pytest.mark.parametrize("write", [in_place, by_rename])
def test_a_writer_with_an_old_version_is_refused_and_the_next_builds_on_the_edit(
    sidecar: Quick, write: Callable[[Path, str], None]
) -> None:
    version = sidecar.version()
    text = edited(sidecar, write)
    stale = sidecar.put("backends/app/servers/one", {"name": "one", "address": "127.0.0.1", "port": 1, "weight": 5}, version=version)
    assert stale.status_code == 409, stale.text
    assert sidecar.text() == text
    assert sidecar.version() == version + 1
    assert sidecar.get("backends/app/servers/two").json()["weight"] == 30
    answer = sidecar.put_server("one", {"weight": 5})
    assert is_live(answer), sidecar.why(answer)
    assert "# seen by nobody else" in sidecar.line("server two ")
    assert "weight 5" in sidecar.line("server one ")
    assert weights(sidecar) == [5, 30]


@BOTH
def test_after_a_reload_by_hand_changes_are_live_again(sidecar: Quick) -> None:
    edited(sidecar)
    reload_by_hand(sidecar)
    assert weights(sidecar) == [10, 30]
    version = sidecar.version()
    while sidecar.put("backends/app/servers/one", {"name": "one", "address": "127.0.0.1", "port": 1}, version=version).status_code == 409:
        version += 1
    answer = sidecar.put_server("one", {"weight": 7})
    assert is_live(answer), sidecar.why(answer)
    assert weights(sidecar) == [7, 30]
    assert "# seen by nobody else" in sidecar.line("server two ")


def test_a_transaction_from_before_the_edit_is_not_committed(sidecar: Quick) -> None:
    transaction = sidecar.transaction()
    assert sidecar.put_server("one", {"weight": 5}, transaction_id=transaction).status_code == 202
    text = edited(sidecar)
    commit = sidecar.commit(transaction)
    assert commit.status_code in (406, 409), commit.text
    assert sidecar.text() == text
    assert sidecar.delete(f"{SERVICES}/transactions/{transaction}").status_code in (204, 404)
    assert sidecar.text() == text


def test_a_raw_push_from_before_the_edit_is_refused(sidecar: Quick) -> None:
    version, pushed = sidecar.version(), sidecar.text().replace("weight 10", "weight 11")
    text = edited(sidecar)
    assert sidecar.post("raw", pushed, version=version).status_code == 409
    assert sidecar.text() == text


@BOTH
def test_an_edit_while_a_reload_is_pending_goes_along_with_it(sidecar: Quick) -> None:
    """The pending reload loads the edited file."""
    backend = sidecar.get("backends/app").json()
    answer = sidecar.put("backends/app", {**backend, "queue_timeout": 1234}, version=sidecar.version())
    edited(sidecar)
    assert sidecar.reloaded(answer)["status"] == "succeeded"
    assert "# seen by nobody else" in sidecar.line("server two ")
    assert sidecar.line("timeout queue") == "timeout queue 1234ms"
    answer = sidecar.put_server("one", {"weight": 6}, version=next_version(sidecar))
    if not is_live(answer):
        assert sidecar.reloaded(answer)["status"] == "succeeded"
    assert weights(sidecar) == [6, 30]


def next_version(sidecar: Quick) -> int:
    """Return the version for a write. A server that does not watch the file reads it when a client writes."""
    answer = sidecar.put("backends/app/servers/one", {"name": "one", "address": "127.0.0.1", "port": 1}, version=999_999)
    assert answer.status_code == 409
    return int(answer.headers["Configuration-Version"])


def test_a_file_that_haproxy_refuses_is_told_and_kept(sidecar: Quick) -> None:
    text = sidecar.text().replace("server two 127.0.0.1:2 weight 10", "server two 127.0.0.1:2 wieght 10")
    by_rename(sidecar.haproxy.file, text)
    answer = sidecar.put_server("one", {"weight": 5}, version=next_version(sidecar))
    assert answer.status_code == 400
    assert "wieght" in answer.json()["message"]
    assert sidecar.text() == text
    by_rename(sidecar.haproxy.file, text.replace("wieght", "weight"))
    answer = sidecar.put_server("one", {"weight": 5}, version=next_version(sidecar))
    assert answer.is_success, answer.text
    assert "weight 5" in sidecar.line("server one ")


def test_an_edit_while_the_server_is_down(sidecar: Quick) -> None:
    assert is_live(sidecar.put_server("one", {"weight": 8}))
    sidecar.stop()
    text = edited(sidecar)
    sidecar.start()
    assert sidecar.text() == text
    assert sidecar.get("backends/app/servers/two").json()["weight"] == 30
    answer = sidecar.put_server("one", {"weight": 9})
    # Made at runtime if the loaded configuration was on disk in time, and otherwise by a reload. Both are right.
    assert answer.status_code == 200 or sidecar.reloaded(answer)["status"] == "succeeded"
    assert weights(sidecar) == [9, 30]
    assert "# seen by nobody else" in sidecar.line("server two ")
