"""Generate clients from the served documents with common generators, build them, and use them with a real HAProxy.

The generators come from the registries of Go and Maven. Without the tool, or without access to the registry, a test is skipped.
"""

import importlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.quick import PLAIN, Quick
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import USER

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]
CONFIG = PLAIN + "backend be\n\nfrontend status\n    bind 127.0.0.1:{site}\n"
PATHS = ("/configuration/version", "/transactions", "/transactions/{id}", "/configuration/backends", "/stats/native", "/storage/maps")
PATHS += ("/configuration/backends/{parent_name}/servers", "/configuration/backends/{parent_name}/servers/{name}")
STORIES = Path(__file__).with_name("generated")
GENERATOR = "org.openapitools:openapi-generator-cli:7.14.0"
OAPI = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.5.0"
SWAGGER = "github.com/go-swagger/go-swagger/cmd/swagger@v0.33.1"
# The newest version whose generated code works with Go 1.23.
RUNTIMES = {"oapi": "github.com/oapi-codegen/runtime v1.1.2", "swagger": "github.com/go-openapi/runtime v0.28.0"}
UNREACHABLE = re.compile("dial tcp|no such host|GOPROXY=off|requires go >=|Could not transfer|No plugin found for prefix")


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quick]:
    directory, config = tmp_path_factory.mktemp("generated"), CONFIG.format(site=free_port())
    resources = {"maps_dir": str(directory / "maps")}
    with (
        HAProxy(directory, config, binary=binaries.exactly("3.4")) as haproxy,
        Quick(haproxy, dataplaneapi={"resources": resources}) as running,
    ):
        yield running


def needs(*programs: str) -> None:
    if missing := [each for each in programs if shutil.which(each) is None]:
        pytest.skip(f"no command here: {missing[0]}")


def run(command: list[str | Path], directory: Path, **environment: str) -> str:
    """Run a command, and return its output. Use `fetch` for a command that needs a registry."""
    done = attempt(command, directory, **environment)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


def fetch(command: list[str | Path], directory: Path, **environment: str) -> None:
    """Run a command that needs a registry. Skips the test if the registry cannot be reached, or has only versions for a newer Go."""
    done = attempt(command, directory, **environment)
    said = done.stdout + done.stderr
    if done.returncode and UNREACHABLE.search(said):
        pytest.skip(f"no command here: {command[0]} cannot fetch: {said.strip()[-300:]}")
    assert done.returncode == 0, said[-3000:]


def attempt(command: list[str | Path], directory: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "GOTOOLCHAIN": "local", **environment}
    return subprocess.run(command, cwd=directory, env=variables, capture_output=True, text=True, check=False, timeout=1800)


def save_excerpt(sidecar: Quick, document: str, directory: Path) -> None:
    """Write the document with only the paths that the test calls, because a client for all paths takes minutes to compile."""
    served = sidecar.get(f"/v3/{document}").json()
    paths = {path: item for path, item in served["paths"].items() if path.removeprefix("/services/haproxy") in PATHS}
    assert len(paths) == len(PATHS)
    (directory / "document.json").write_text(json.dumps(served | {"paths": paths}))


def check_story(sidecar: Quick, backend: str, output: list[str]) -> None:
    """Assert the output of the client, and what it has written: one of two servers, because it has deleted the other, and the map."""
    assert output == ["success", f"{backend}.map", "OPEN"]
    section = sidecar.text().partition(f"backend {backend}\n")[2]
    assert "server s1 127.0.0.1:80" in section
    assert "server s2" not in section
    assert (sidecar.haproxy.file.parent / "maps" / f"{backend}.map").read_text() == "key value\n"


def check_go(sidecar: Quick, generator: str, directory: Path) -> None:
    """Build and run a program that uses the generated client in the directory."""
    for name in ("story.go", f"{generator}.go"):
        shutil.copy(STORIES / name, directory)
    fetch(["go", "get", "."], directory)
    run(["go", "build", "-o", "program", "."], directory)
    backend = f"be_{generator}"
    output = run([directory / "program", f"127.0.0.1:{sidecar.port}", *USER, backend], directory)
    check_story(sidecar, backend, output.split())


def begin_go(generator: str, tool: str, directory: Path) -> None:
    needs("go")
    fetch(["go", "install", tool], directory, GOBIN=str(directory))
    (directory / "go.mod").write_text(f"module example.org/client\n\ngo 1.23\n\nrequire {RUNTIMES[generator]}\n")


def test_python_by_openapi_generator(sidecar: Quick, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client has positional arguments in the order of the reference, sends a form, and raises for an unknown value of an enum."""
    needs("java", "mvn")
    fetch(["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={GENERATOR}", f"-DoutputDirectory={tmp_path}"], tmp_path)
    save_excerpt(sidecar, "specification_openapiv3", tmp_path)
    (jar,) = tmp_path.glob("*.jar")
    less = "apiTests=false,modelTests=false,apiDocs=false,modelDocs=false"
    command: list[str | Path] = ["java", "-jar", jar, "generate", "-g", "python", "-i", "document.json", "-o", "made"]
    # The generator takes the schema `map` for its own type of that name.
    command += ["--type-mappings", "map=Map"]
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
        status = transactions.commit_transaction(started.id).status
        stored = made.StorageApi(client).create_storage_map_file(("be_python.map", b"key value\n")).storage_name
        counters = made.StatsApi(client).get_stats().stats
    check_story(sidecar, "be_python", [status, stored, *(each.stats.status for each in counters if each.type == "frontend")])


def test_go_by_oapi_codegen(sidecar: Quick, tmp_path: Path) -> None:
    begin_go("oapi", OAPI, tmp_path)
    save_excerpt(sidecar, "specification_openapiv3", tmp_path)
    # The constant of an enum's word `client` would have the name of the client itself.
    settings = {"package": "made", "generate": {"models": True, "client": True}, "compatibility": {"always-prefix-enum-values": True}}
    (tmp_path / "settings.yaml").write_text(json.dumps(settings))
    (tmp_path / "made").mkdir()
    run([tmp_path / "oapi-codegen", "-config", "settings.yaml", "-o", "made/made.go", "document.json"], tmp_path)
    check_go(sidecar, "oapi", tmp_path)


def test_go_by_go_swagger(sidecar: Quick, tmp_path: Path) -> None:
    begin_go("swagger", SWAGGER, tmp_path)
    save_excerpt(sidecar, "specification", tmp_path)
    # What no path refers to would be compiled as well.
    less = ["--with-flatten=minimal", "--with-flatten=remove-unused"]
    run([tmp_path / "swagger", "generate", "client", "-q", "-f", "document.json", "-t", ".", *less], tmp_path)
    check_go(sidecar, "swagger", tmp_path)
