"""`ctl call`: operations by their ids."""

import json
from pathlib import Path

from tests.acceptance.quick import Quick
from tests.app.ctl.calls import Ctl


def test_operations_are_listed(ctl: Ctl) -> None:
    lines = ctl.output("call").splitlines()
    assert lines[0].split() == ["ID", "METHOD", "PATH"] and len(lines) > 550
    assert "getBackends  GET /services/haproxy/configuration/backends" in " ".join(" ".join(lines).split()).replace(
        "getBackends GET", "getBackends  GET"
    )


def test_parameters_are_options(ctl: Ctl, sidecar: Quick) -> None:
    assert json.loads(ctl.output("call", "getServerBackend", "--parent_name", "shop", "--name=web1"))["port"] == 1
    assert ctl.output("call", "getBackends", "-o", "table").startswith("NAME ")
    body = json.dumps({"name": "web9", "address": "127.0.0.1", "port": 9})
    version = str(sidecar.version())
    done = ctl("call", "createServerBackend", "--parent_name", "shop", "--version", version, "-d", body)
    assert done.returncode == 0 and sidecar.line("server web9"), done.stderr
    assert ctl.output("call", "deleteServerBackend", "--parent_name", "shop", "--name", "web9", "--version", str(sidecar.version())) == ""


def test_bodies_are_text_and_files_as_well(ctl: Ctl, sidecar: Quick, tmp_path: Path) -> None:
    file = tmp_path / "called.map"
    file.write_text("a b\n")
    assert json.loads(ctl.output("call", "createStorageMapFile", "-d", f"@{file}"))["storage_name"] == "called.map"
    assert ctl.output("call", "getOneStorageMap", "--name", "called.map") == "a b\n"
    ctl.output("call", "replaceStorageMapFile", "--name", "called.map", "-d", "@-", text="a c\n")
    assert ctl.output("get", "map", "called.map") == "a c\n"
    ctl.output("call", "deleteStorageMap", "--name", "called.map")


def test_what_is_wrong(ctl: Ctl) -> None:
    assert "did you mean getBackend or getBackends" in ctl.refusal(2, "call", "getBackendz")
    assert "--name is required: the path is" in ctl.refusal(2, "call", "getBackend")
    assert "unknown parameter --nam; the operation has name" in ctl.refusal(2, "call", "getBackend", "--nam", "x")
    assert "needs a value" in ctl.refusal(2, "call", "getBackend", "--name")
    assert "404" in ctl.refusal(1, "call", "getBackend", "--name", "nope")
