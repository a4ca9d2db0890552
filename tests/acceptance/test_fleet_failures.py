"""Test faults in a fleet with real HAProxies and a real etcd (docs/fleet.md, "When something goes wrong")."""

import base64
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest

from haproxy_native.features.fleet.sealing import new_secret
from tests.acceptance.fleets import FLEET, Fleet, Node, number
from tests.acceptance.follower import Follower
from tests.haproxy import binaries
from tests.until import until


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Node lb2 has the oldest HAProxy."""
    with Fleet(tmp_path_factory.mktemp("failures"), binaries={"lb2": binaries.exactly("2.6")}) as made:
        yield made


def store_error(node: Node) -> str:
    return str(node.fleet()["store"].get("error", ""))


def push(node: Node, old: str, new: str) -> None:
    text = node.get("raw").text
    assert old in text
    assert (pushed := node.post("raw", text.replace(old, new), version=node.version(), force_reload=True)).status_code in (201, 202), (
        pushed.text
    )


def test_of_two_that_release_at_once_one_is_first(fleet: Fleet) -> None:
    """Both nodes have read the same head. The other node gets an error that names the release, or that another node was first."""
    lb1, _, lb3 = fleet.nodes
    first, weight = number(lb1), lb1.weight()
    lb1.set_weight(21)
    lb3.set_weight(23)
    with ThreadPoolExecutor() as pool:
        answers = list(pool.map(lambda node: node.release(force=True, bake="1h"), (lb1, lb3)))
    assert sorted(answer.status_code for answer in answers) == [202, 409], [answer.text for answer in answers]
    (refused,) = [answer.json()["message"] for answer in answers if answer.status_code == 409]
    assert "by admin is rolling" in refused or "another node has replaced the release" in refused
    assert lb1.post(f"{FLEET}/releases/{first + 1}/stop").status_code == 200
    for node in (lb1, lb3):
        until(lambda node=node: node.adopt("store").status_code == 200)
    fleet.all(first + 2, weight)


def test_an_older_haproxy_refuses_before_anything_is_changed(fleet: Fleet) -> None:
    """HAProxy 2.6 does not know the keyword, and 3.0 and later do."""
    lb1, lb2, lb3 = fleet.nodes
    first, weight = number(lb1), lb1.weight()
    push(lb1, "global\n", "global\n  harden.reject-privileged-ports.tcp on\n")
    before = [(node.file_state(), node.reloads()) for node in (lb2, lb3)]
    assert lb1.release().status_code == 202
    until(lambda: number(lb1) == first + 2)
    reason = lb1.fleet()["release"]["reason"]
    assert reason.startswith("lb2: ") and "harden.reject-privileged-ports.tcp" in reason
    assert [(node.file_state(), node.reloads()) for node in (lb2, lb3)] == before
    fleet.all(first + 2, weight)
    until(lambda: "harden" not in lb1.text())


@pytest.mark.parametrize("author", ["a tool", "vi"])
def test_a_file_edited_on_disk_is_noticed_and_never_overwritten(fleet: Fleet, author: str) -> None:
    """The edit replaces the file, or writes into the file."""
    lb1, lb2, _ = fleet.nodes
    first, file = number(lb1), lb2.haproxy.file
    edited = lb2.text().replace("timeout server 5s", "timeout server 6s")
    if author == "vi":
        file.write_text(edited)
    else:
        (draft := file.with_name("draft")).write_text(edited)
        draft.rename(file)
    until(lambda: lb2.phase() == "drifted")
    lb1.set_weight(31)
    assert lb1.release().status_code == 202
    until(lambda: number(lb1) == first + 2)
    assert lb1.fleet()["release"]["reason"] == "lb2: it was edited by hand" and "timeout server 6s" in lb2.text()
    assert lb2.adopt("store").status_code == 200
    assert "timeout server 5s" in lb2.text()
    fleet.all(first + 2, lb1.weight())


def test_a_second_node_of_one_name_takes_no_part(fleet: Fleet, tmp_path: Path) -> None:
    with fleet.another(tmp_path / "twin", "lb3") as twin:
        until(lambda: "another node is present as lb3" in store_error(twin), store_error(twin))
        assert store_error(fleet.nodes[2]) == ""
        before = twin.file_state()
        lb1 = fleet.nodes[0]
        first = number(lb1)
        lb1.set_weight(41)
        assert lb1.release().status_code == 202
        fleet.all(first + 1, "41")
        assert twin.file_state() == before and twin.get(f"{FLEET}/health").status_code == 503


def test_a_node_with_another_key_names_it_and_changes_nothing(fleet: Fleet, tmp_path: Path) -> None:
    (key := tmp_path / "other.key").write_text(new_secret())
    key.chmod(0o600)
    with fleet.another(tmp_path / "lb4", "lb4", keys=[str(key)]) as lb4:
        until(lambda: "is sealed with the key" in store_error(lb4), store_error(lb4))
        assert lb4.adopt("store").status_code == 503 and lb4.adopt("node").status_code == 503
        assert lb4.post(f"{FLEET}/init").status_code == 503
        assert not any(error for node in fleet.nodes if (error := store_error(node)))


def test_a_former_head_written_back_makes_nodes_hold_until_it_is_gone(fleet: Fleet) -> None:
    """An attacker without a key can write a former value back to etcd. Each node then reports that it holds."""
    lb1, _, lb3 = fleet.nodes
    first, key = number(lb1), base64.b64encode(b"/dataplaneapi/edge/head").decode()

    def head() -> str:
        return str(fleet.etcd.ask("kv/range", key=key)["kvs"][0]["value"])

    former = head()
    lb1.set_weight(51)
    assert lb1.release().status_code == 202
    fleet.all(first + 1, "51")
    now = head()
    with Follower(lb3, types="fleet") as events:
        fleet.etcd.ask("kv/put", key=key, value=former)
        until(lambda: {node.phase() for node in fleet.nodes} == {"held"})
        held = events.until(lambda event: event["data"]["change"] == "held")
        assert held["object"] == "fleet/node" and f"this node has seen {first + 1}" in held["data"]["reason"]
        assert {node.weight() for node in fleet.nodes} == {"51"} and lb1.put_server("a", {"weight": 52}).status_code == 409
        fleet.etcd.ask("kv/put", key=key, value=now)
        events.until(lambda event: event["data"]["change"] == "joined")
    fleet.all(first + 1, "51")


def test_a_node_that_was_away_while_the_store_was_compacted_catches_up(fleet: Fleet) -> None:
    lb1, _, lb3 = fleet.nodes
    first = number(lb1)
    lb3.stop()
    for step in (1, 2):
        lb1.set_weight(60 + step)
        assert (made := lb1.release()).status_code == 202, made.text
        until(lambda step=step: lb1.is_done(first + step))
    fleet.etcd.free_space()
    lb3.start()
    fleet.all(first + 2, "62")


def test_keys_are_replaced_one_node_after_the_other(tmp_path: Path) -> None:
    """As in docs/fleet.md: on all nodes, add the new key after the old one, then put it first, then remove the old key after a release."""
    with Fleet(tmp_path) as fleet:
        (new := tmp_path / "new.key").write_text(new_secret())
        new.chmod(0o600)
        old = Path(fleet.settings["keys"][0])
        lb1 = fleet.nodes[0]
        for step, keys in enumerate(([old, new], [new, old], [new])):
            for node in fleet.nodes:
                node.stop()
                node.set_fleet(keys=[str(key) for key in keys])
                node.start()
                until(lambda node=node: node.phase() == "good" and not store_error(node), str(node.fleet()))
            until(lambda: all(row["present"] for row in lb1.fleet()["nodes"]))
            lb1.set_weight(20 + step)
            assert (made := lb1.release()).status_code == 202, made.text
            fleet.all(2 + step, str(20 + step))


def test_a_full_store_stops_releases_alone(tmp_path: Path) -> None:
    """The error of the release says what to do. Nodes stay present, and changes that need no release are made."""
    with Fleet(tmp_path, etcd=["--quota-backend-bytes=16777216"]) as fleet:
        lb1, lb2, _ = fleet.nodes

        with httpx2.Client(timeout=60) as client:
            value = "A" * (1 << 20)
            rows = [client.post(f"{fleet.etcd.url}/v3/kv/put", json={"key": f"eA{each:02}", "value": value}) for each in range(20, 50)]
            assert any("database space exceeded" in row.text for row in rows)
            lb1.set_weight(11)
            refused = lb1.release()
            assert refused.status_code == 503 and "defragment, and disarm the alarm" in refused.json()["message"], refused.text
            assert lb2.fleet()["store"]["up"] and lb2.phase() == "good"
            client.post(f"{fleet.etcd.url}/v3/kv/deleterange", json={"key": "eA==", "range_end": "eQ=="})
        fleet.etcd.free_space()
        until(lambda: lb1.release().status_code == 202)
        fleet.all(2, "11")
