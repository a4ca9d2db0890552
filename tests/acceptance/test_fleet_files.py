"""Test a fleet whose releases include stored files."""

from collections.abc import Iterator

import httpx2
import pytest

from tests.acceptance.fleets import CONFIG, FLEET, Fleet, Node, number
from tests.until import until

MAPS = "/v3/services/haproxy/storage/maps"
GENERAL = "/v3/services/haproxy/storage/general"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    config = CONFIG.replace("global\n", "global\n  default-path config\n")
    with Fleet(tmp_path_factory.mktemp("files"), config, {"files": ["general", "maps"]}) as made:
        yield made


def upload(node: Node, path: str, name: str, data: bytes) -> httpx2.Response:
    return node.client.post(path, files={"file_upload": (name, data)})


def replace(node: Node, path: str, data: bytes) -> httpx2.Response:
    return node.client.put(path, content=data, headers={"Content-Type": "text/plain"})


def content(node: Node, name: str) -> bytes | None:
    path = node.directory / name
    return path.read_bytes() if path.exists() else None


def are_all(fleet: Fleet, release: int, name: str, data: bytes | None) -> None:
    for node in fleet.nodes:
        until(lambda node=node: node.is_done(release) and node.phase() == "good" and content(node, name) == data, str(node.fleet()))


def test_a_release_brings_text_and_files_together_and_a_revert_takes_both_back(fleet: Fleet) -> None:
    """The text names files that the other nodes do not have yet. The second release changes only a file."""
    lb1, lb2, lb3 = fleet.nodes
    first = number(lb1)
    assert upload(lb1, MAPS, "hosts.map", b"a 1\n").status_code in (201, 202)
    assert upload(lb1, GENERAL, "no.http", b"HTTP/1.0 503 No\r\n\r\n").status_code in (201, 202)
    text = lb1.get("raw").text.replace(
        "  bind unix@web.sock\n",
        "  bind unix@web.sock\n  errorfile 503 general_storage_dir/no.http\n  http-request set-header x %[path,map(maps_dir/hosts.map)]\n",
    )
    assert (pushed := lb1.post("raw", text, version=lb1.version(), force_reload=True)).status_code in (201, 202), pushed.text
    assert (made := lb1.release()).status_code == 202, made.text
    assert made.json()["files"] == ["maps", "general"]
    are_all(fleet, first + 1, "maps_dir/hosts.map", b"a 1\n")
    are_all(fleet, first + 1, "general_storage_dir/no.http", b"HTTP/1.0 503 No\r\n\r\n")
    assert lb1.line("errorfile") == lb2.line("errorfile") == lb3.line("errorfile") != ""

    version = lb2.version()
    assert replace(lb1, f"{MAPS}/hosts.map", b"a 2\n").status_code in (200, 202)
    until(lambda: lb1.phase() == "drifted")
    assert lb1.release().status_code == 202
    are_all(fleet, first + 2, "maps_dir/hosts.map", b"a 2\n")
    assert lb2.version() == version, "the text is the same"
    found = lb3.get(f"{FLEET}/releases/{first + 2}/diff").json()
    assert (found["diff"], found["files"]) == ("", [{"store": "maps", "name": "hosts.map", "change": "changed"}])
    found = lb3.get(f"{FLEET}/releases/{first + 1}/diff").json()
    assert "+  errorfile 503" in found["diff"] and {file["change"] for file in found["files"]} == {"added"}

    assert lb1.release(release=first).status_code == 202
    are_all(fleet, first + 3, "maps_dir/hosts.map", None)
    assert "errorfile" not in lb2.text() + lb3.text()


def test_a_file_edited_by_hand_is_not_overwritten(fleet: Fleet) -> None:
    lb1, lb2, _ = fleet.nodes
    first = number(lb1)
    assert upload(lb2, MAPS, "own.map", b"own 1\n").status_code in (201, 202)
    until(lambda: lb2.phase() == "drifted")
    for node in fleet.nodes:
        until(lambda node=node: node.difference("lb2").get("files") == [{"store": "maps", "name": "own.map", "change": "added"}])
    assert upload(lb1, MAPS, "other.map", b"other 1\n").status_code in (201, 202)
    assert lb1.release().status_code == 202
    until(lambda: number(lb1) == first + 2)
    assert lb1.fleet()["release"]["reason"] == "lb2: it was edited by hand" and content(lb2, "maps_dir/own.map") == b"own 1\n"
    # The release was rolled back on the node that made it, too.
    until(lambda: content(lb1, "maps_dir/other.map") is None)
    assert lb2.adopt("store").status_code == 200
    assert content(lb2, "maps_dir/own.map") is None and lb2.phase() == "good"


def test_a_bad_file_is_refused_before_anything_is_changed(fleet: Fleet) -> None:
    """The check of the other nodes reads the new file, which is larger than HAProxy allows."""
    lb1, lb2, lb3 = fleet.nodes
    first = number(lb1)
    assert upload(lb1, GENERAL, "big.http", b"HTTP/1.0 503 No\r\n\r\n").status_code in (201, 202)
    text = lb1.get("raw").text.replace("  bind unix@web.sock\n", "  bind unix@web.sock\n  errorfile 503 general_storage_dir/big.http\n")
    assert lb1.post("raw", text, version=lb1.version(), force_reload=True).status_code in (201, 202)
    # Written directly, because the API would refuse the file.
    (lb1.directory / "general_storage_dir/big.http").write_bytes(b"HTTP/1.0 503 No\r\n\r\n" + b"x" * 100_000)
    before = [node.file_state() for node in (lb2, lb3)]
    until(lambda: lb1.release().status_code == 202)
    until(lambda: number(lb1) == first + 2)
    assert "errorfile" in lb1.fleet()["release"]["reason"], lb1.fleet()
    assert [node.file_state() for node in (lb2, lb3)] == before and content(lb2, "general_storage_dir/big.http") is None
    until(lambda: "errorfile" not in lb1.text() and lb1.phase() == "good")


def test_nodes_that_release_other_kinds_refuse(fleet: Fleet) -> None:
    lb1, lb2, _ = fleet.nodes
    first = number(lb1)
    lb2.stop()
    lb2.set_fleet(files=["maps"])
    lb2.start()
    try:
        assert upload(lb1, MAPS, "some.map", b"a 1\n").status_code in (201, 202)
        until(lambda: all(node["present"] for node in lb1.fleet()["nodes"]), lb1.get(FLEET).text)
        assert lb1.release(force=True).status_code == 202
        until(lambda: number(lb1) == first + 2)
        assert "fleet.files must be the same on all nodes" in lb1.fleet()["release"]["reason"]
    finally:
        lb2.stop()
        lb2.set_fleet(files=["maps", "general"])
        lb2.start()


def test_a_bundle_that_is_too_large_is_refused(fleet: Fleet) -> None:
    lb1, *_ = fleet.nodes
    (path := lb1.directory / "general_storage_dir/big").write_bytes(bytes(9 << 20))
    refused = lb1.release()
    assert refused.status_code == 400 and "a release has at most" in refused.json()["message"], refused.text
    path.unlink()
