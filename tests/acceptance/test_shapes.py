"""Shapes: with HAProxy 3.4 a backend with lines of its own takes a reload once, and the next ones like it none."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from haproxy_native.text.parts import SHAPES
from tests.acceptance.effective import differences, effective, fresh
from tests.acceptance.quick import Quick, is_live
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port

CONFIG = """\
global
    stats socket {{stats}} level admin

defaults
    mode http
    timeout connect 1s
    timeout client 30s
    timeout server 30s

frontend site
    bind 127.0.0.1:{site}
    use_backend %[path,field(2,/)]

backend app
    server one 127.0.0.1:9
"""
OWN = {
    "balance": {"algorithm": "leastconn"},
    "cookie": {"name": "S", "type": "insert", "indirect": True},
    "adv_check": "httpchk",
    "http_request_rule_list": [{"type": "return", "return_status_code": 200, "return_hdrs": [{"name": "x-tenant", "fmt": "%[be_name]"}]}],
}


class Stage:
    def __init__(self, haproxy: HAProxy, sidecar: Quick, directory: Path) -> None:
        self.haproxy, self.sidecar, self.shapes = haproxy, sidecar, directory / SHAPES

    def add(self, name: str, **members: Any) -> Any:
        body = {"name": name, "servers": {"s": {"name": "s", "address": "127.0.0.1", "port": 9, "cookie": "s"}}, **members}
        return self.sidecar.post("backends", body, version=self.sidecar.version(), full_section=True)

    def reloaded(self, answer: Any) -> None:
        assert self.sidecar.reloaded(answer)["status"] == "succeeded"

    def compare(self, site: str) -> None:
        """With a process that has just loaded the files."""
        text = self.haproxy.file.read_text() + self.shapes.read_text()
        text = text.replace(str(self.haproxy.stats), "{stats}").replace(site, str(free_port()))
        with fresh(self.haproxy.directory / "fresh", self.haproxy.binary, text) as send:
            # Of a backend without minconn nothing counts its fullconn; that of the frontend follows from what a process may open.
            found = [each for each in differences(effective(self.haproxy.ask), effective(send)) if " slim:" not in each]
        assert found == []


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    directory = tmp_path / "conf.d"
    directory.mkdir()
    settings = {"config_files_after": [str(directory)], "shapes": 8}
    config = CONFIG.format(site=free_port())
    # HAProxy refuses a directory without files.
    (directory / "10-others.cfg").write_text("# nothing yet\n")
    with (
        HAProxy(tmp_path, config, binary=binaries.exactly("3.4"), arguments=("-f", str(directory))) as haproxy,
        Quick(haproxy, settings=settings) as sidecar,
    ):
        yield Stage(haproxy, sidecar, directory)


def test_the_second_one_takes_no_reload(stage: Stage) -> None:
    site = stage.haproxy.file.read_text().partition("127.0.0.1:")[2].split()[0]
    stage.reloaded(stage.add("first", **OWN))
    assert stage.shapes.read_text().count("defaults shape-") == 2, "that of app has no lines but the nameless section's"
    worker = stage.haproxy.worker_pid()
    answer = stage.add("second", **OWN)
    assert is_live(answer), stage.sidecar.why(answer)
    text = stage.haproxy.file.read_text()
    first, second = (text.partition(f"backend {name}\n")[2].partition("\n\n")[0].strip() for name in ("first", "second"))
    assert first == second and "balance leastconn" in first
    for name in ("first", "second"):
        assert httpx2.get(f"http://127.0.0.1:{site}/{name}").headers["x-tenant"] == name
    stage.compare(site)
    answer = stage.sidecar.delete("backends/second", version=stage.sidecar.version())
    assert is_live(answer), stage.sidecar.why(answer)
    assert stage.haproxy.worker_pid() == worker


# Refused in a defaults section, and ignored there.
UNFIT = [
    {"http_request_rule_list": [{"type": "set-retries", "expr": "1"}]},
    {"compression": {"algorithms": ["gzip"], "types": ["text/html"], "offload": True}},
]


@pytest.mark.parametrize("own", UNFIT)
def test_what_haproxy_takes_only_in_a_backend(stage: Stage, own: dict[str, Any]) -> None:
    """The reload is made all the same, and later ones do not ask again."""
    stage.reloaded(stage.add("first", **own))
    there = stage.shapes.read_text()
    assert "set-retries" not in there and "offload" not in there
    stage.reloaded(stage.add("second", **own))
    stage.reloaded(stage.add("fit", balance={"algorithm": "leastconn"}))
    answer = stage.add("other", balance={"algorithm": "leastconn"})
    assert is_live(answer), stage.sidecar.why(answer)


def test_a_text_refused_for_another_reason_leaves_shapes_alone(stage: Stage) -> None:
    wrong = {"s": {"name": "s", "address": "127.0.0.1", "port": 9, "resolvers": "missing"}}
    answer = stage.add("first", retries=4, servers=wrong)
    assert answer.status_code == 400, answer.text
    assert "shape-" not in answer.text
    stage.reloaded(stage.add("first", retries=4))
    answer = stage.add("second", retries=4)
    assert is_live(answer), stage.sidecar.why(answer)


def test_they_are_in_nobodys_way(stage: Stage) -> None:
    stage.reloaded(stage.add("first", **OWN))
    answer = stage.sidecar.put_server("one", {"weight": 8})
    assert is_live(answer), stage.sidecar.why(answer)
    shapes = stage.shapes.read_text()
    stage.reloaded(stage.sidecar.post("defaults", {"name": "named", "mode": "http"}, version=stage.sidecar.version()))
    assert stage.shapes.read_text() == shapes
    assert "defaults named" in stage.haproxy.file.read_text()


def test_a_change_that_is_taken_back_leaves_its_shape(stage: Stage) -> None:
    """So that takes no reload, and the next such backend takes none either."""
    stage.reloaded(stage.add("first", **OWN))
    shapes, (entry, *_) = stage.shapes.read_text(), stage.sidecar.get("/v3/sidecar/history").json()
    entry = stage.sidecar.get(f"/v3/sidecar/history/{entry['id']}").json()
    assert {each["object"] for each in entry["effects"]} == {"backend/first"}
    answer = stage.sidecar.post(f"/v3/sidecar/history/{entry['id']}/revert", {})
    assert is_live(answer), stage.sidecar.why(answer)
    assert "backend first" not in stage.sidecar.text()
    assert stage.shapes.read_text() == shapes
    answer = stage.add("second", **OWN)
    assert is_live(answer), stage.sidecar.why(answer)


def test_a_limit(stage: Stage) -> None:
    """Of more shapes than are kept, those of most backends."""
    transaction = stage.sidecar.transaction()
    for number in range(12):
        body = {"name": f"b{number}", "retries": 1 + number % 10}
        assert stage.sidecar.post("backends", body, transaction_id=transaction).status_code == 202
    stage.reloaded(stage.sidecar.commit(transaction))
    text = stage.shapes.read_text()
    assert text.count("defaults shape-") == 8
    assert "retries 1\n" in text and "retries 2\n" in text


def test_without_a_place_for_them(tmp_path: Path) -> None:
    config = CONFIG.format(site=free_port())
    with HAProxy(tmp_path, config, binary=binaries.exactly("3.4")) as haproxy, Quick(haproxy, settings={"shapes": 8}) as sidecar:
        body = {"name": "b", "balance": {"algorithm": "leastconn"}, "from": "unnamed_defaults_1"}
        answer = sidecar.post("backends", body, version=sidecar.version())
        sidecar.reloaded(answer)
        answer = sidecar.post("backends", {**body, "name": "c"}, version=sidecar.version())
        sidecar.reloaded(answer)
        reason = sidecar.get(f"/v3/sidecar/reloads/{answer.headers['Reload-Id']}").json()["reasons"][0]
        assert reason["remedy"].endswith("are off: the last file that HAProxy loads is in no directory that config_files_after names last")


def test_a_kill_leaves_what_haproxy_loads(stage: Stage) -> None:
    """Whenever it comes, the files are those of before or after, and later backends are live as the worker has their shape."""
    for number in range(4):
        body = {"name": f"k{number}", "retries": 1 + number}
        version = stage.sidecar.version()
        with ThreadPoolExecutor() as pool:
            call = pool.submit(stage.sidecar.post, "backends", body, version=version)
            time.sleep(0.03 * number)
            stage.sidecar.kill()
            stage.sidecar.start()
            call.exception()
        text = stage.haproxy.file.read_text() + stage.shapes.read_text()
        assert text.count(f"retries {1 + number}\n") in (0, 2)
        answer = stage.sidecar.post("backends", {"name": f"l{number}", "retries": 1 + number}, version=stage.sidecar.version())
        assert answer.status_code in (201, 202), answer.text
        if answer.status_code == 202:
            stage.reloaded(answer)
    stage.compare(stage.haproxy.file.read_text().partition("bind 127.0.0.1:")[2].split()[0])
