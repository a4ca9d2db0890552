"""Test a fleet of three servers with real HAProxies and a real etcd."""

import os
import pty
import shutil
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from dataplaneapi.ctl import output
from dataplaneapi.ctl.commands import watch
from tests.acceptance.fleets import FLEET, Fleet, number
from tests.acceptance.follower import Follower
from tests.app.ctl.calls import Ctl
from tests.haproxy.sidecar import COMMAND
from tests.until import until


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with Fleet(tmp_path_factory.mktemp("fleet")) as made:
        yield made


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    with Fleet(tmp_path) as made:
        yield made


def test_a_change_reaches_all_nodes_stage_by_stage_and_back(shared: Fleet) -> None:
    lb1, *_ = shared.nodes
    first, weight, reloads = number(lb1), lb1.weight(), [node.reloads() for node in shared.nodes]
    lb1.set_weight(11)
    made = lb1.release(message="more weight")
    assert made.status_code == 202 and made.json()["stages"] == [["lb2"], ["lb3"]] and made.json()["left_out"] == []
    shared.all(first + 1, "11")
    assert [node.reloads() for node in shared.nodes] == reloads, "a weight is set live everywhere"
    (entry, *_) = shared.nodes[2].get("/v3/sidecar/history").json()
    assert (entry["author"], entry["message"], entry["cause"]) == ("admin", "more weight", f"release/{first + 1}")
    assert lb1.release().status_code == 409, "there is nothing to release"
    assert lb1.release(release=first).status_code == 202
    shared.all(first + 2, weight)


def test_the_event_feed_of_each_node_tells_of_releases(shared: Fleet) -> None:
    lb1, lb2, lb3 = shared.nodes
    first = number(lb1)
    with Follower(lb3, types="fleet") as events, Follower(lb2, types="fleet", object="fleet/node") as of_node:
        lb1.set_weight(12)
        assert lb1.release(message="more weight").status_code == 202
        shared.all(first + 1, "12")
        done = events.until(lambda event: event["data"]["change"] == "done")
        lb1.set_weight(14)
        assert lb1.release(bake="1h").status_code == 202
        until(lambda: lb2.phase() == "baking")
        assert lb1.post(f"{FLEET}/releases/{first + 2}/pause").status_code == 200
        events.until(lambda event: event["data"]["change"] == "paused")
        assert lb1.post(f"{FLEET}/releases/{first + 2}/stop").status_code == 200
        back = events.until(lambda event: event["data"]["change"] == "rolled_back")
        shared.all(first + 3, "12")
    assert {"object": "fleet/release", "type": "fleet"}.items() <= done.items()
    about = {"node": "lb3", "number": first + 1, "author": "admin", "message": "more weight", "state": "done"}
    assert about.items() <= done["data"].items()
    assert {"number": first + 3, "reverts": first + 2, "reason": "stopped by admin"}.items() <= back["data"].items()
    changes = [event["data"]["change"] for event in events.events]
    assert [change for change in changes if change != "gate_passed"] == ["started", "done", "started", "paused", "rolled_back"]
    assert changes.index("started") < changes.index("gate_passed") < changes.index("done")
    assert of_node.events == [], "no node has held or joined"


def test_each_write_names_the_release_that_it_changes(shared: Fleet) -> None:
    """A change has effect only on its node, and is answered as by a server without a fleet."""
    lb1, lb2, _ = shared.nodes
    first, version, weight = number(lb1), int(lb1.version()), lb1.weight()
    made = lb1.put_server("a", {"weight": 16})
    assert (made.status_code, made.headers["Fleet-Release"]) == (200, str(first))
    assert int(lb1.version()) == version + 1 and lb2.weight() == weight
    runtime = lb1.put("/v3/services/haproxy/runtime/backends/app/servers/a", {"admin_state": "ready"})
    assert runtime.headers["Fleet-Release"] == str(first)
    assert "Fleet-Release" not in lb1.get("raw").headers
    made = lb1.release()
    assert "Fleet-Release" not in made.headers
    shared.all(first + 1, "16")
    assert lb2.put_server("a", {"weight": 16}).headers["Fleet-Release"] == str(first + 1)


def test_the_client_shows_the_fleet_and_releases(shared: Fleet, tmp_path: Path) -> None:
    lb1, lb2, _ = shared.nodes
    first, ctl = number(lb1), Ctl(lb1.port, tmp_path)
    assert f"group edge: release {first}" in ctl.output("fleet")
    lb1.set_weight(13)
    accepted = ctl("fleet", "release", "--dry-run", "--wait")
    assert accepted.returncode == 0 and "all nodes accept it" in accepted.stderr, accepted.stderr
    assert lb1.line("server a") != lb2.line("server a")
    released = ctl("fleet", "release", "-m", "more weight", "--bake", "0s", "--wait")
    assert released.returncode == 0, released.stderr
    assert lb1.line("server a") == lb2.line("server a")
    assert "more weight" in ctl.output("fleet", "releases")
    assert f"dataplane_fleet_release {first + 3}.0" in lb1.get("/metrics").text


def test_a_watched_status_is_updated_until_it_is_interrupted(shared: Fleet, tmp_path: Path) -> None:
    lb1, *_ = shared.nodes
    first, ctl = number(lb1), Ctl(lb1.port, tmp_path)
    assert f"release {first}" in ctl.output("fleet", "status", "-w"), "without a terminal, it is printed once"
    assert "--watch" in ctl.refusal(2, "fleet", "releases", "-w")
    ours, theirs = pty.openpty()
    environment = {**ctl.environment, "TERM": "xterm", "NO_COLOR": "1"}
    with subprocess.Popen([str(COMMAND), "ctl", "fleet", "status", "-w"], env=environment, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = ""
        while f"release {first} " not in shown:
            shown += os.read(ours, 65536).decode()
        lb1.set_weight(17)
        assert lb1.release().status_code == 202
        while f"release {first + 1} by admin is done" not in shown:
            shown += os.read(ours, 65536).decode()
        process.send_signal(signal.SIGINT)
        # Closing the terminal is an input/output error for whoever reads.
        with suppress(OSError):
            while data := os.read(ours, 65536):
                shown += data.decode()
        assert process.wait(60) == 130
    os.close(ours)
    first_code, last_code = (text.replace(output.ESCAPE, "\x1b") for text in (watch.ALTERNATE_SCREEN, watch.MAIN_SCREEN))
    assert shown.startswith(first_code) and shown.endswith(last_code)
    shared.all(first + 1, "17")


def test_what_one_node_refuses_changes_none(shared: Fleet) -> None:
    """The file exists only on one node, so the check of another node fails at gate 0."""
    lb1, lb2, lb3 = shared.nodes
    first, weight = number(lb1), lb1.weight()
    (path := lb1.directory / "only.http").write_text("HTTP/1.0 503 No\r\n\r\n")
    text = lb1.get("raw").text.replace("maxconn 100", "maxconn 200") + f"  errorfile 503 {path}\n"
    assert lb1.post("raw", text, version=lb1.version(), force_reload=True).status_code in (201, 202)
    path.unlink()
    before = [node.file_state() for node in (lb2, lb3)]
    assert lb1.release().status_code == 202
    shared.all(first + 2, weight)
    release = lb1.fleet()["release"]
    assert release["reverts"] == first + 1 and "only.http" in release["reason"]
    # A revert is DONE at once, and the nodes apply it afterwards.
    until(lambda: "maxconn 100" in lb1.text())
    assert [node.file_state() for node in (lb2, lb3)] == before


def test_a_node_that_is_not_well_has_all_go_back(shared: Fleet) -> None:
    """The guard of the first stage is violated: the server that the release adds a check to is down."""
    lb1, lb2, lb3 = shared.nodes
    first, weight, before = number(lb1), lb1.weight(), lb3.file_state()
    assert lb1.put_server("a", {"check": "enabled", "inter": 50, "fall": 1}).status_code in (200, 202)
    assert lb1.release(guard={"ready": True}, bake="1h").status_code == 202
    until(lambda: number(lb1) == first + 2)
    shared.all(first + 2, weight)
    assert "ready servers" in lb1.fleet()["release"]["reason"]
    until(lambda: all("check" not in node.line("server a") for node in (lb1, lb2)))
    assert lb3.file_state() == before, "a node whose stage has not come writes no byte"


def test_pause_resume_stop(shared: Fleet) -> None:
    lb1, lb2, lb3 = shared.nodes
    first, weight = number(lb1), lb1.weight()
    lb1.set_weight(21)
    assert lb1.release(bake="1h").status_code == 202
    until(lambda: lb2.phase() == "baking")
    path = f"{FLEET}/releases/{first + 1}"
    assert lb3.post(f"{path}/pause").json()["state"] == "paused"
    assert lb2.release().status_code == 409, "another release is paused"
    assert lb3.post(f"{path}/resume").json()["state"] == "rolling"
    assert lb3.post(f"{path}/stop").json()["reason"] == "stopped by admin"
    assert lb3.post(f"{path}/stop").status_code == 409
    shared.all(first + 2, weight)


def test_what_was_edited_by_hand_is_never_overwritten_unasked(shared: Fleet) -> None:
    lb1, lb2, _ = shared.nodes
    first, weight = number(lb1), lb1.weight()
    lb2.set_weight(31)
    until(lambda: lb2.phase() == "drifted")
    assert lb2.get(f"{FLEET}/health").status_code == 503
    lb1.set_weight(32)
    assert lb1.release().status_code == 202
    # The worker has the former weight before the commit of the rollback has ended.
    until(lambda: number(lb1) == first + 2 and lb1.weight() == weight and lb1.phase() == "good")
    assert lb1.fleet()["release"]["reason"] == "lb2: it was edited by hand" and lb2.weight() == "31"
    lb1.set_weight(33)
    assert lb1.release(force=True).status_code == 202
    shared.all(first + 3, "33")


def test_each_node_shows_how_another_one_differs(shared: Fleet, tmp_path: Path) -> None:
    lb1, lb2, lb3 = shared.nodes
    first, weight, ctl = number(lb1), lb1.weight(), Ctl(lb1.port, tmp_path)
    assert lb1.difference("lb3") == {"from": first, "diff": "", "truncated": False, "files": []}
    lb3.set_weight(35)
    for node in (lb1, lb3):
        until(lambda node=node: "+  server a 127.0.0.1:1 weight 35\n" in node.difference("lb3").get("diff", ""))
    diff = lb1.difference("lb3")["diff"]
    assert diff.startswith(f"--- haproxy.cfg (release {first})\n+++ haproxy.cfg (lb3)\n")
    assert f"-  server a 127.0.0.1:1 weight {weight}\n" in diff
    assert "difference" not in lb1.get(f"{FLEET}/nodes/lb3").json() and lb1.get(f"{FLEET}/nodes/lb9").status_code == 404
    phases = {node["name"]: node["phase"] for node in lb2.get(f"{FLEET}/nodes").json()}
    assert phases == {"lb1": "good", "lb2": "good", "lb3": "drifted"}
    assert "weight 35" in ctl.output("fleet", "diff", "lb3") and "drifted" in ctl.output("fleet")
    assert "lb3\n" in ctl.output("completion", "--words", "fleet", "diff", "l")
    assert lb3.adopt("store").status_code == 200
    until(lambda: lb1.difference("lb3").get("diff") == "")


def test_a_difference_needs_permission_and_hides_secrets(shared: Fleet) -> None:
    """Callers that may only read the fleet see no line of the configuration, and callers without `secrets` see no secret."""
    lb1, _, lb3 = shared.nodes
    former, first, path = lb1.file.read_text(), number(lb1), f"{FLEET}/nodes/lb3"
    lb1.stop()
    lb1.add_users({"reader": [{"objects": "**", "may": ["read"]}], "fleet": [{"objects": "fleet/*", "may": ["read"]}]})
    lb1.start()
    lb3.haproxy.file.write_text(lb3.text().replace("  bind unix@web.sock\n", "  bind unix@web.sock\n  stats auth ann:verysecret\n"))
    until(lambda: "verysecret" in lb1.difference("lb3").get("diff", ""))
    reader, fleet = ("reader", "reader"), ("fleet", "fleet")
    masked = lb1.client.get(path, params={"diff": "true"}, auth=reader).json()["difference"]["diff"]
    assert "+  stats auth <masked>\n" in masked.replace("ann:", "") and "verysecret" not in masked
    assert lb1.client.get(path, auth=fleet).status_code == 200
    refused = lb1.client.get(path, params={"diff": "true"}, auth=fleet)
    assert refused.status_code == 403 and "verysecret" not in refused.text
    assert lb1.client.get(f"{FLEET}/releases/{first}/diff", auth=fleet).status_code == 403
    assert lb1.client.get(f"{FLEET}/releases/{first}", auth=fleet).status_code == 200
    assert lb1.client.post(f"{FLEET}/nodes/lb1/hold", auth=fleet).status_code == 403
    assert lb1.client.put(f"{FLEET}/policy", json={}, auth=fleet).status_code == 403
    assert lb3.adopt("store").status_code == 200
    lb1.stop()
    lb1.file.write_text(former)
    lb1.start()


def test_two_releases_are_compared(shared: Fleet, tmp_path: Path) -> None:
    lb1, lb2, _ = shared.nodes
    first, weight, ctl = number(lb1), lb1.weight(), Ctl(lb2.port, tmp_path)
    for step in (36, 37):
        lb1.set_weight(step)
        until(lambda: lb1.release().status_code == 202)
        shared.all(number(lb1), str(step))
    assert lb2.get(f"{FLEET}/releases/{first + 1}").json()["number"] == first + 1
    assert lb2.get(f"{FLEET}/releases/{first + 2}").json()["state"] == "done"
    assert lb2.get(f"{FLEET}/releases/9999").status_code == lb2.get(f"{FLEET}/releases/9999/diff").status_code == 404
    path = f"{FLEET}/releases/{first + 2}/diff"
    found = lb2.get(path).json()
    assert (found["from"], found["to"], found["files"]) == (first + 1, first + 2, [])
    assert "-  server a 127.0.0.1:1 weight 36\n+  server a 127.0.0.1:1 weight 37\n" in found["diff"]
    assert f"-  server a 127.0.0.1:1 weight {weight}\n" in lb2.get(path, **{"from": first}).json()["diff"]
    assert lb2.get(path, **{"from": 9999}).status_code == 404
    refused = lb2.get(path, **{"from": "x"})
    assert refused.status_code in (400, 422) and "from" in refused.text
    assert lb2.get(f"{FLEET}/releases/1/diff").status_code == 400, "there is no release before it"
    assert "weight 37" in ctl.output("fleet", "diff", str(first + 2))
    assert f"-  server a 127.0.0.1:1 weight {weight}" in ctl.output("fleet", "diff", f"{first}..{first + 2}")


def test_a_person_holds_a_node_and_has_it_follow_again(shared: Fleet, tmp_path: Path) -> None:
    lb1, lb2, lb3 = shared.nodes
    first, weight, ctl = number(lb1), lb2.weight(), Ctl(lb2.port, tmp_path)
    path = f"{FLEET}/nodes/lb2"
    elsewhere = lb1.post(f"{path}/hold")
    assert elsewhere.status_code == 409 and "only lb2 itself" in elsewhere.json()["message"]
    assert lb2.post(f"{path}/follow").status_code == 200, "it follows already"
    assert "lb2 is held: held by admin: on trial" in ctl.output("fleet", "hold", "lb2", "-m", "on trial")
    until(lambda: {node["name"]: node.get("reason") for node in lb1.fleet()["nodes"]}["lb2"] == "held by admin: on trial")
    assert lb2.get(f"{FLEET}/health").status_code == 503
    for refused in (lb2.release(), lb2.put_server("a", {"weight": 46})):
        assert refused.status_code == 409 and "this node is held by admin: on trial; have it follow again" in refused.json()["message"]
    lb1.set_weight(47)
    made = lb1.release()
    assert made.status_code == 202 and made.json()["stages"] == [["lb3"]] and made.json()["left_out"] == ["lb2"]
    until(lambda: lb3.is_done(first + 1))
    lb2.kill()
    lb2.start()
    until(lambda: lb1.difference("lb2").get("diff", "").count(" weight ") == 2)
    assert (lb2.phase(), lb2.weight()) == ("held", weight), "it holds after a restart, too"
    assert ctl("fleet", "follow", "lb2").returncode == 0
    shared.all(first + 1, "47")
    lb1.set_weight(48)
    assert lb1.release(bake="1h").status_code == 202
    until(lambda: lb2.phase() == "baking")
    refused = lb2.post(f"{path}/hold")
    assert refused.status_code == 409 and "lb2 is in one of its stages" in refused.json()["message"]
    assert lb1.post(f"{FLEET}/releases/{first + 2}/stop").status_code == 200
    shared.all(first + 3, "47")


def test_a_release_copies_the_policy_of_the_group(shared: Fleet, tmp_path: Path) -> None:
    lb1, lb2, lb3 = shared.nodes
    first, weight, ctl, path = number(lb1), lb1.weight(), Ctl(lb3.port, tmp_path), f"{FLEET}/policy"
    built_in = {"stages": ["1", "25%", "100%"], "bake": "60s", "deadline": "600s"}
    assert lb1.get(path).json() == built_in
    wrong = {"stages": ["half"], "guard": {"mistakes": 1}, "bake": "long", "deadline": "0s"}
    for member, value in wrong.items():
        refused = lb1.put(path, {member: value})
        assert 400 <= refused.status_code < 500 and member in refused.json()["message"], refused.text
    ctl.output("fleet", "policy", "stages=100%", "bake=1h", "guard=ready")
    assert lb1.get(path).json() == {"stages": ["100%"], "guard": {"ready": True, "min_requests": 50}, "bake": "3600s", "deadline": "600s"}
    assert "mistakes" in ctl.refusal(2, "fleet", "policy", "mistakes=1")
    assert "bake=\n" in ctl.output("completion", "--words", "fleet", "policy", "b")
    lb1.set_weight(49)
    made = lb1.post(f"{FLEET}/releases", {"deadline": "20m"}).json()
    assert (made["stages"], made["bake"], made["deadline"], made["guard"]["ready"]) == ([["lb2", "lb3"]], 3600, 1200, True)
    ctl.output("fleet", "policy", "bake=0s", "guard=")
    until(lambda: lb2.phase() == lb3.phase() == "baking")
    assert lb1.fleet()["release"]["bake"] == 3600, "the release that is under way keeps its own values"
    assert lb1.post(f"{FLEET}/releases/{first + 1}/stop").status_code == 200
    shared.all(first + 2, weight)
    # A release that is rolled back keeps the policy.
    assert lb2.get(path).json() == {"stages": ["100%"], "bake": "0s", "deadline": "600s"}
    ctl.output("fleet", "policy", "guard=ready")
    lb1.set_weight(49)
    made = lb1.release(guard={}, dry_run=True)
    assert made.status_code == 202 and "guard" not in made.json()
    until(lambda: number(lb1) == first + 4)
    lb3.set_weight(49)
    assert ctl("fleet", "release", "--dry-run", "--guard", "", "--wait").returncode == 0
    for node in (lb1, lb3):
        assert node.adopt("store").status_code == 200
    assert lb2.put(path, {}).json() == built_in


def test_requests_at_several_nodes_at_once_all_succeed(shared: Fleet) -> None:
    """Each replaces the head that it has read. A request that is not first reads the new head and tries again."""
    with ThreadPoolExecutor() as pool:
        answers = list(pool.map(lambda node: node.put(f"{FLEET}/policy", {"bake": "1s"}), shared.nodes * 5))
    assert {answer.status_code for answer in answers} == {200}, [answer.text for answer in answers]
    assert shared.nodes[0].put(f"{FLEET}/policy", {}).status_code == 200


def test_the_metrics_show_phases_drift_and_nodes_that_are_behind(shared: Fleet) -> None:
    lb1, lb2, lb3 = shared.nodes
    first = number(lb1)
    until(lambda: lb1.metric('nodes{phase="good"}') == 3 and lb1.metric('nodes{phase="held"}') == 0)
    assert lb2.metric("drift") == lb2.metric("behind_seconds") == 0
    lb3.set_weight(52)
    until(lambda: lb3.metric("drift") == 1 and lb3.metric('nodes{phase="drifted"}') == 1)
    assert lb3.metric("behind_seconds") == 0, "an edit by hand does not make it older"
    assert lb2.post(f"{FLEET}/nodes/lb2/hold").status_code == 200
    until(lambda: "lb2" in [node["name"] for node in lb3.fleet()["nodes"] if node["phase"] == "held"])
    assert lb3.release().status_code == 202
    until(lambda: lb3.is_done(first + 1) and lb2.metric("behind_seconds") > 0)
    until(lambda: lb1.metric("behind_seconds") == lb3.metric("behind_seconds") == lb3.metric("drift") == 0)
    assert lb2.post(f"{FLEET}/nodes/lb2/follow").status_code == 200
    shared.all(first + 1, "52")
    until(lambda: lb2.metric("behind_seconds") == 0)


def test_a_node_killed_in_its_bake_goes_on(shared: Fleet) -> None:
    lb1, lb2, _ = shared.nodes
    first = number(lb1)
    lb1.set_weight(41)
    assert (made := lb1.release(bake="3s")).status_code == 202, made.text
    until(lambda: lb2.phase() == "baking")
    lb2.kill()
    lb2.start()
    shared.all(first + 1, "41")


def test_a_node_that_was_away_catches_up(shared: Fleet) -> None:
    lb1, lb2, lb3 = shared.nodes
    first = number(lb1)
    lb3.stop()
    lb1.set_weight(45)
    made = lb1.release()
    assert made.status_code == 202 and made.json()["stages"] == [["lb2"]] and made.json()["left_out"] == ["lb3"]
    until(lambda: lb2.is_done(first + 1))
    lb3.start()
    shared.all(first + 1, "45")


def test_while_the_store_is_frozen_nodes_go_on_without_it(shared: Fleet) -> None:
    lb1, lb2, lb3 = shared.nodes
    first = number(lb1)
    shared.etcd.process.send_signal(signal.SIGSTOP)
    assert lb1.release().status_code == 503
    until(lambda: bool(lb1.fleet()["store"].get("error")) and lb1.put_server("a", {"weight": 50}).status_code == 503)
    server = "/v3/services/haproxy/runtime/backends/app/servers/a"
    assert lb1.put(server, {"admin_state": "drain"}).status_code == 200
    assert lb1.put(server, {"admin_state": "ready"}).status_code == 200
    lb3.set_weight(51)
    lb2.kill()
    lb2.start()
    shown = lb2.fleet()
    assert not shown["store"]["up"] and shown["release"]["number"] == first and lb2.get(f"{FLEET}/health").status_code == 200
    shared.etcd.process.send_signal(signal.SIGCONT)
    until(lambda: lb3.phase() == "drifted")
    # Node lb2 was killed, and can be present again once its former lease has ended.
    until(lambda: not lb2.fleet()["store"].get("error") and lb2.phase() == "good")
    until(lambda: lb3.release().status_code == 202)
    until(lambda: lb1.put_server("a", {}).status_code in (200, 409))
    shared.all(first + 1, "51")


def test_a_store_set_back_to_an_old_copy_has_all_hold_until_one_is_adopted(fleet: Fleet) -> None:
    lb1, lb2, lb3 = fleet.nodes
    fleet.etcd.stop()
    shutil.copytree(fleet.etcd.data, old := fleet.etcd.data.with_name("old"))
    fleet.etcd.start()
    # The node refuses changes until it has noticed that the store is back.
    until(lambda: lb1.put_server("a", {"weight": 61}).status_code == 200)
    until(lambda: lb1.put(f"{FLEET}/policy", {"bake": "5m"}).status_code == 200)
    until(lambda: lb1.release().status_code == 202)
    fleet.all(2, "61")
    fleet.etcd.stop()
    shutil.rmtree(fleet.etcd.data)
    shutil.copytree(old, fleet.etcd.data)
    fleet.etcd.start()
    until(lambda: {node.phase() for node in fleet.nodes} == {"held"})
    assert {node.weight() for node in fleet.nodes} == {"61"}
    assert "release 1, and this node has seen 2" in lb2.get(f"{FLEET}/health").json()["reason"]
    assert lb1.release().status_code == 409
    assert lb3.adopt("node").json()["number"] == 3
    fleet.all(3, "61")
    assert lb2.get(f"{FLEET}/policy").json()["bake"] == "300s", "the nodes have the policy, too"


def test_a_wiped_store_is_filled_from_a_node(fleet: Fleet) -> None:
    lb1, lb2, _ = fleet.nodes
    fleet.etcd.stop()
    shutil.rmtree(fleet.etcd.data)
    fleet.etcd.start()
    until(lambda: {node.phase() for node in fleet.nodes} == {"held"})
    assert lb1.post(f"{FLEET}/init").status_code == 409
    assert lb2.adopt("store").status_code == 409
    assert lb2.adopt("node").json()["number"] == 2
    fleet.all(2, "10")


def test_nothing_in_the_store_is_readable(shared: Fleet) -> None:
    lb1, *_ = shared.nodes
    assert lb1.weight()
    stored = b"".join(path.read_bytes() for path in shared.etcd.data.rglob("*") if path.is_file())
    assert b"/dataplaneapi/edge/head" in stored
    assert b"127.0.0.1:1 " not in stored and b"backend app" not in stored and b'"bundle"' not in stored
