"""`ctl follow` of files; tests/docs/test_etcd.py follows a key."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from demo.children import start, stop
from tests.acceptance.quick import Quick
from tests.app.ctl.calls import Ctl
from tests.haproxy.sidecar import COMMAND
from tests.until import until

SHOP = "backends: [{name: NAME, from: plain, servers: {a: {name: a, address: 127.0.0.1, port: 3, weight: WEIGHT}}}]"


def declared(name: str, weight: int) -> str:
    return SHOP.replace("NAME", name).replace("WEIGHT", str(weight))


@pytest.fixture
def directory(ctl: Ctl, tmp_path: Path) -> Iterator[Path]:
    """One that is followed."""
    made = tmp_path / "declared"
    made.mkdir()
    environment = [f"{name}={value}" for name, value in ctl.environment.items()]
    process = start(["env", *environment, str(COMMAND), "ctl", "follow", str(made), "--owner", "directory"], tmp_path / "log")
    yield made
    stop(process)


def outcome(directory: Path) -> dict[str, object]:
    file = directory.with_name(f"{directory.name}.status")
    return dict(json.loads(file.read_text())) if file.exists() else {}


def test_each_state_of_a_directory_is_applied_once_it_is_there(directory: Path, sidecar: Quick) -> None:
    (directory / "a.yaml").write_text(declared("one", 1))
    until(lambda: outcome(directory).get("outcome") == "applied")
    (directory / "b.yaml").write_text(declared("two", 2))
    until(lambda: "backend two" in sidecar.text())
    (directory / "a.yaml").unlink()
    until(lambda: "backend one" not in sidecar.text())
    until(lambda: outcome(directory).get("deleted") == 1)
    assert "backend two" in sidecar.text()


def test_a_refused_state_is_sent_once_and_a_conflict_again(ctl: Ctl, sidecar: Quick, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("backends: [{name: x, wieght: 3}]")
    assert "422" in ctl.refusal(1, "follow", str(file), "--owner", "file", "--once")
    said = json.loads((tmp_path / "a.yaml.status").read_text())
    assert (said["outcome"], said["status"], said["tries"]) == ("refused", 422, 1) and "wieght" in said["message"]
    file.write_text("backends: [{name: shop, from: plain, balance: {algorithm: leastconn}}]")
    process = start(
        ["env", *[f"{k}={v}" for k, v in ctl.environment.items()], str(COMMAND), "ctl", "follow", str(file), "--owner", "file"],
        tmp_path / "log",
    )
    until(lambda: json.loads((tmp_path / "a.yaml.status").read_text()).get("tries", 0) > 1)
    assert json.loads((tmp_path / "a.yaml.status").read_text())["outcome"] == "trying"
    file.write_text("backends: [{name: shop, from: plain, balance: {algorithm: roundrobin}}]")
    until(lambda: json.loads((tmp_path / "a.yaml.status").read_text())["outcome"] == "applied")
    stop(process)


def test_a_whole_configuration_counts_on(ctl: Ctl, sidecar: Quick, tmp_path: Path) -> None:
    file, version = tmp_path / "whole.cfg", sidecar.version()
    text = "".join(line for line in sidecar.text().splitlines(keepends=True) if not line.startswith("#"))
    file.write_text(f"{text}\nbackend of_follow from plain\n")
    for _ in range(2):
        ctl.output("follow", str(file), "--whole", "--once")
        said = json.loads((tmp_path / "whole.cfg.status").read_text())
        assert (said["outcome"], said["version"]) == ("applied", sidecar.version()) and sidecar.version() > version, said
    assert "backend of_follow" in sidecar.text()


def test_an_empty_file_is_reported_once_and_never_sent(ctl: Ctl, sidecar: Quick, tmp_path: Path) -> None:
    """A file is empty for a moment if a program writes it in place. With `--once` the command waits for the content, too."""
    file, log, before = tmp_path / "whole.cfg", tmp_path / "log", sidecar.text()
    text = "".join(line for line in before.splitlines(keepends=True) if not line.startswith("#"))
    file.write_text("\n")
    environment = [f"{name}={value}" for name, value in ctl.environment.items()]
    process = start(["env", *environment, str(COMMAND), "ctl", "follow", str(file), "--whole", "--once"], log)
    until(lambda: log.exists() and f"{file} is missing or empty; nothing is applied until it has content" in log.read_text())
    file.write_text("")
    file.with_name("next").write_text(f"{text}\nbackend after_nothing from plain\n")
    assert sidecar.text() == before and process.poll() is None
    file.with_name("next").rename(file)
    assert process.wait(60) == 0 and "backend after_nothing" in sidecar.text()
    assert log.read_text().count("missing or empty") == 1 and outcome(file)["tries"] == 1


def test_an_empty_directory_is_reported_once(ctl: Ctl, sidecar: Quick, tmp_path: Path) -> None:
    directory, log = tmp_path / "team", tmp_path / "log"
    directory.mkdir()
    environment = [f"{name}={value}" for name, value in ctl.environment.items()]
    process = start(["env", *environment, str(COMMAND), "ctl", "follow", str(directory), "--owner", "team", "--once"], log)
    until(lambda: log.exists() and "missing or empty" in log.read_text())
    (directory / "a.yaml").write_text("backends: [{name: of_team, from: plain}]")
    assert process.wait(60) == 0 and "backend of_team" in sidecar.text()
    assert log.read_text().count("missing or empty") == 1 and "trying again" not in log.read_text()


def test_what_it_needs(ctl: Ctl) -> None:
    assert "--owner NAME is required" in ctl.refusal(2, "follow", "/x")
    assert "--owner NAME is required" in ctl.refusal(2, "follow", "/x", "--owner", "a", "--whole")
