"""Test `/v3/sidecar/drift` with a real HAProxy: differences between file, loaded configuration and worker, and their causes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.farm import Farm, farm_of
from tests.acceptance.quick import SERVICES
from tests.acceptance.web import Web
from tests.acceptance.wrong_changes import PEMS, RUNTIME, site_of

LINES = """\
    default_backend shop

backend shop from plain
    server web1 127.0.0.1:{one} weight 20
    server web2 127.0.0.1:{two} weight 20

userlist people
    user anna insecure-password verysecret
"""


WEB1 = "backend/shop/server/web1"


@pytest.fixture(params=[pytest.param("2.6", marks=pytest.mark.soak), "3.4"])
def farm(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Farm]:
    with farm_of(Farm, tmp_path, request.param, LINES, "one", "two", delay=3_600_000) as found:
        yield found


def drift(farm: Farm) -> dict[str, Any]:
    answer = farm.sidecar.get("/v3/sidecar/drift")
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_all_three(farm: Farm) -> None:
    found = drift(farm)
    assert found == {"in_sync": True, "running_known": True, "worker_answers": True, "differences": [], "notes": []}
    answer = farm.sidecar.put("defaults/plain", {**farm.sidecar.get("defaults/plain").json(), "retries": 1}, version=farm.sidecar.version())
    assert answer.status_code == 202
    assert farm.sidecar.put(f"{SERVICES}/runtime/backends/shop/servers/web1", {"weight": 7}).status_code == 200
    farm.sidecar.haproxy.ask("set server shop/web2 state maint")
    found = drift(farm)
    assert not found["in_sync"] and found["reload_pending"] == answer.headers["Reload-Id"] and found["running_known"]
    assert found["differences"] == [
        {"object": "defaults/plain", "member": "retries", "cause": "pending", "file": 1, "running": 3},
        {"object": WEB1, "member": "weight", "cause": "override", "running": 20, "worker": 7},
        {"object": "backend/shop/server/web2", "member": "admin_state", "cause": "outside", "running": "ready", "worker": "maint"},
    ]


def test_an_override_that_others_have_changed(farm: Farm) -> None:
    """The value in the worker is reported, not that of the override. The configured value is no difference."""
    server = f"{SERVICES}/runtime/backends/shop/servers/web1"
    assert farm.sidecar.put(server, {"weight": 7, "admin_state": "drain"}).status_code == 200
    farm.sidecar.haproxy.ask("set server shop/web1 weight 3")
    drained = {"object": WEB1, "member": "admin_state", "cause": "override", "running": "ready", "worker": "drain"}
    weighted = {"object": WEB1, "member": "weight", "cause": "outside", "running": 20, "worker": 3}
    assert drift(farm)["differences"] == [drained, weighted]
    farm.sidecar.haproxy.ask("set server shop/web1 weight 20")
    assert drift(farm)["differences"] == [drained]
    farm.sidecar.haproxy.ask("set server shop/web1 weight 7")
    assert drift(farm)["differences"] == [{**weighted, "cause": "override", "worker": 7}, drained]


def test_an_edit_by_hand(farm: Farm) -> None:
    file = farm.sidecar.haproxy.file
    file.write_text(file.read_text().replace("verysecret", "othersecret"))
    found = drift(farm)
    (difference,) = found["differences"]
    assert difference["object"] == "userlist/people/user/anna" and difference["file"] == difference["running"] == "<masked>"
    assert "secret" not in str(difference)


def test_without_haproxy(farm: Farm) -> None:
    farm.sidecar.haproxy.stop()
    found = drift(farm)
    assert not found["worker_answers"] and not found["in_sync"]


def test_stored_files(tmp_path: Path) -> None:
    """Entries that only the process has and a file edited by hand are differences; a call that changes both makes none."""
    with Web("one") as web, site_of(tmp_path, web) as site:

        def differing() -> dict[str, tuple[str, str]]:
            found = site.sidecar.get("/v3/sidecar/drift").json()
            assert found["in_sync"] == (not found["differences"])
            assert all(each["file"] != each["worker"] and each["cause"] == "outside" for each in found["differences"])
            return {each["object"]: each["member"] for each in found["differences"]}

        assert differing() == {}
        entry = f"{RUNTIME}/maps/hosts.map/entries"
        assert site.sidecar.post(entry, {"key": "0x1 2", "value": "x y"}, force_sync=True).status_code in (201, 400)
        assert site.sidecar.post(entry, {"key": "0x12", "value": "x y"}, force_sync=True).status_code == 201
        assert differing() == {}
        assert site.sidecar.post(entry, {"key": "/c", "value": "three"}).status_code == 201
        assert differing() == {"map/hosts.map": "content"}
        assert site.sidecar.delete(f"{entry}/%2Fc").status_code == 204
        assert differing() == {}
        (site.certificates / "site.pem").write_text(PEMS[1])
        assert differing() == {"certificate/site.pem": "content"}


CHANGES = [
    ("set server shop/web1 addr 127.0.0.9 port 77", [("address", "127.0.0.1", "127.0.0.9"), ("port", "one", 77)]),
    ("set server shop/web1 weight 7", [("weight", 20, 7)]),
    ("set server shop/web1 state drain", [("admin_state", "ready", "drain")]),
    ("set maxconn server shop/web1 5", [("maxconn", 0, 5)]),
]


@pytest.mark.parametrize("farm", ["2.6", "3.4"], indirect=True)
def test_what_others_set_is_seen_and_set_back(farm: Farm) -> None:
    """A PUT of the configured server sets the process back, and does not change the file."""
    path = "backends/shop/servers/web1"
    for command, members in CHANGES:
        farm.sidecar.haproxy.ask(command)
        found = drift(farm)
        assert not found["in_sync"]
        assert [(each["object"], each["cause"]) for each in found["differences"]] == [(WEB1, "outside")] * len(members), command
        shown = [(each["member"], each["running"], each["worker"]) for each in found["differences"]]
        assert shown == [(name, farm.web.ports.get(was, was), now) for name, was, now in members], command
        answer = farm.sidecar.put(path, farm.sidecar.get(path).json(), version=farm.sidecar.version())
        assert answer.status_code == 200, answer.text
        assert drift(farm)["in_sync"], command


def test_servers_that_come_and_go_outside(farm: Farm) -> None:
    farm.sidecar.haproxy.ask("add server shop/web3 127.0.0.1:9")
    farm.sidecar.haproxy.ask("set server shop/web2 state maint")
    farm.sidecar.haproxy.ask("del server shop/web2")
    shown = {each["object"]: ("running" in each, "worker" in each) for each in drift(farm)["differences"]}
    assert shown == {"backend/shop/server/web2": (True, False), "backend/shop/server/web3": (False, True)}


@pytest.mark.parametrize(
    ("lines", "base", "file"),
    [
        ("load-server-state-from-file global", "server-state-file {file}", "states"),
        pytest.param("load-server-state-from-file local", "server-state-base {directory}", "shop", marks=pytest.mark.soak),
        ("load-server-state-from-file local\n    server-state-file-name named", "server-state-base {directory}", "named"),
    ],
)
def test_what_a_stale_state_file_leaves(tmp_path: Path, lines: str, base: str, file: str) -> None:
    """The successful reload and drift report the different values. A PUT of the configured server sets them back."""
    path = tmp_path / file
    text = LINES.replace("backend shop from plain\n", f"backend shop from plain\n    {lines}\n")
    with farm_of(Farm, tmp_path, "3.4", text, "one", "two", settings=base.format(file=path, directory=tmp_path)) as farm:
        one = farm.web.ports["one"]
        path.write_text(farm.sidecar.haproxy.ask("show servers state shop").replace(f" {one} ", " 77 "))
        defaults = farm.sidecar.get("defaults/plain").json()
        outcome = farm.sidecar.reloaded(farm.sidecar.put("defaults/plain", {**defaults, "retries": 1}, version=farm.sidecar.version()))
        assert outcome["status"] == "succeeded"
        record = farm.sidecar.get(f"/v3/sidecar/reloads/{outcome['id']}").json()
        assert record["differences"] == [f"port of server shop/web1 is 77, from the server-state file, and not {one}"]
        shown = {"object": WEB1, "member": "port", "cause": "state_file", "running": one, "worker": 77}
        assert drift(farm)["differences"] == [shown]
        put = "backends/shop/servers/web1"
        assert farm.sidecar.put(put, farm.sidecar.get(put).json(), version=farm.sidecar.version()).status_code == 200
        assert drift(farm)["in_sync"]
