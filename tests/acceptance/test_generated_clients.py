"""Clients that the usual generators make of the served documents are built, and do what they are made for beside a real HAProxy.

What generates them comes from the registries of Go and Maven; a machine without the tool, or without a registry, skips.
"""

import importlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.quick import PLAIN, Quick
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import USER

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]
CONFIG = PLAIN + "backend be\n\nfrontend status\n    bind 127.0.0.1:{site}\n"
PATHS = ("/configuration/version", "/transactions", "/transactions/{id}", "/configuration/backends", "/stats/native", "/storage/general")
PATHS += ("/configuration/backends/{parent_name}/servers", "/configuration/backends/{parent_name}/servers/{name}")
GENERATOR = "org.openapitools:openapi-generator-cli:7.14.0"
OAPI = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.5.0"
# The newest of which the generated code needs nothing that Go 1.23 lacks.
OAPI_RUNTIME = "github.com/oapi-codegen/runtime@v1.1.2"


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quick]:
    directory, config = tmp_path_factory.mktemp("generated"), CONFIG.format(site=free_port())
    resources = {"general_storage_dir": str(directory / "general")}
    with (
        HAProxy(directory, config, binary=binaries.exactly("3.4")) as haproxy,
        Quick(haproxy, dataplaneapi={"resources": resources}) as running,
    ):
        yield running


def needs(*programs: str) -> None:
    if missing := [each for each in programs if shutil.which(each) is None]:
        pytest.skip(f"no {missing[0]} command")


def fetch(command: list[str], directory: Path, **environment: str) -> None:
    """Runs what asks a registry; skips where that is out of reach."""
    done = subprocess.run(
        command, cwd=directory, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=1800
    )
    if done.returncode:
        pytest.skip(f"{command[0]} cannot fetch: {(done.stdout + done.stderr).strip()[-300:]}")


def run(command: list[str | Path], directory: Path) -> str:
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


def excerpt(served: dict[str, Any]) -> dict[str, Any]:
    """With the paths that are called; all of them take some minutes to compile."""
    paths = {path: item for path, item in served["paths"].items() if path.removeprefix("/services/haproxy") in PATHS}
    assert len(paths) == len(PATHS)
    return served | {"paths": paths}


def test_python_by_openapi_generator(sidecar: Quick, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Positional arguments in the reference's order, a form, and models that raise for a word which no enum has."""
    needs("java", "mvn")
    fetch(["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={GENERATOR}", f"-DoutputDirectory={tmp_path}"], tmp_path)
    (tmp_path / "document.json").write_text(json.dumps(excerpt(sidecar.get("/v3/specification_openapiv3").json())))
    (jar,) = tmp_path.glob("*.jar")
    less = "apiTests=false,modelTests=false,apiDocs=false,modelDocs=false"
    command: list[str | Path] = ["java", "-jar", jar, "generate", "-g", "python", "-i", "document.json", "-o", "made"]
    run([*command, "--package-name", "made_by_openapi_generator", "--global-property", less], tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path / "made"))
    made = importlib.import_module("made_by_openapi_generator")
    configuration = made.Configuration(host=f"http://127.0.0.1:{sidecar.port}/v3", username=USER[0], password=USER[1])
    with made.ApiClient(configuration) as client:
        transactions, servers = made.TransactionsApi(client), made.ServerApi(client)
        started = transactions.start_transaction(made.ConfigurationApi(client).get_configuration_version())
        made.BackendApi(client).create_backend(made.Backend(name="be_python"), started.id)
        for name in ("s1", "s2"):
            servers.create_server_backend("be_python", made.Server(name=name, address="127.0.0.1", port=80), started.id)
        servers.delete_server_backend("s2", "be_python", started.id)
        assert transactions.commit_transaction(started.id).status == "success"
        assert [each.name for each in servers.get_all_server_backend("be_python")] == ["s1"]
        assert made.StorageApi(client).create_storage_general_file(("note.txt", b"text")).storage_name == "note.txt"
        assert "OPEN" in [each.stats.status for each in made.StatsApi(client).get_stats().stats]


def test_go_by_oapi_codegen(sidecar: Quick, tmp_path: Path) -> None:
    needs("go")
    fetch(["go", "install", OAPI], tmp_path, GOBIN=str(tmp_path), GOTOOLCHAIN="local", GOFLAGS="-modcacherw")
    (tmp_path / "made").mkdir()
    (tmp_path / "document.json").write_text(json.dumps(excerpt(sidecar.get("/v3/specification_openapiv3").json())))
    # The constant of an enum's word `client` would have the name of the client itself.
    settings = {"package": "made", "generate": {"models": True, "client": True}, "compatibility": {"always-prefix-enum-values": True}}
    (tmp_path / "settings.yaml").write_text(json.dumps(settings))
    run([tmp_path / "oapi-codegen", "-config", "settings.yaml", "-o", "made/made.go", "document.json"], tmp_path)
    (tmp_path / "main.go").write_text(Path(__file__).with_name("generated_oapi.go").read_text())
    (tmp_path / "go.mod").write_text("module example.org/client\n\ngo 1.23\n")
    fetch(["go", "get", OAPI_RUNTIME], tmp_path, GOTOOLCHAIN="local")
    run(["go", "build", "-o", "program", "."], tmp_path)
    assert run([tmp_path / "program", f"http://127.0.0.1:{sidecar.port}", *USER], tmp_path) == "OPEN\n"
    servers = sidecar.text().partition("backend be_oapi")[2]
    assert "server s1 127.0.0.1:80" in servers
    assert "server s2" not in servers
