"""Run the code of docs/library.md with a real HAProxy, without `dataplaneapi`, and compare its output with the page."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from itertools import groupby
from pathlib import Path

import pytest

import haproxy_native
from haproxy_native import errors, objects
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import Sidecar
from tests.native.objects.types import types
from tests.rules.sources import CHECKOUT
from tests.tls.pems import made

PAGE = CHECKOUT / "docs" / "library.md"
BLOCKS = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)
CONFIG = """\
global
    stats socket {stats} mode 600 level admin

defaults base
    mode http
    timeout connect 5s
    timeout client 5s
    timeout server 5s

frontend www from base
    bind 127.0.0.1:{port} ssl crt {directory}/ssl/site.pem
    use_backend %[req.hdr(host),map({directory}/maps/hosts.map,app)]

backend app from base
    balance   roundrobin
    server one 127.0.0.1:8081 weight 10
    server two 127.0.0.1:8082
"""
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
END = "--- the end of a block ---"
# Runs blocks one after the other, each with its own names.
ALONE = f"""\
import sys
sys.modules.update(dataplaneapi=None, fastapi=None)
for number, code in enumerate(sys.argv[1:]):
    exec(compile(code, f"block {{number}}", "exec"), {{"__name__": "__main__"}})
    print({END!r})
"""
# The paths that the client of the page uses; a client of all of them takes half a minute.
CALLED = ("/configuration/version", "/backends/{parent_name}/servers/{name}")
SERVER = "http://127.0.0.1:5555"


def exported_errors() -> set[str]:
    return {name for name in haproxy_native.__all__ if hasattr(errors, name)}


def test_the_page_says_when_each_exported_error_is_raised() -> None:
    table = PAGE.read_text().partition("## Errors")[2].partition("\n## ")[0]
    first = " ".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE))
    assert {"NativeError", *re.findall(r"`([A-Z]\w+)`", first)} - {"KeyError", "AttributeError"} == exported_errors()


def test_what_the_objects_raise_is_exported() -> None:
    modules = [path.read_text() for path in Path(str(objects.__file__)).parent.glob("*.py")]
    docstrings = [
        ast.get_docstring(node) or "" for module in modules for node in ast.walk(ast.parse(module)) if isinstance(node, DOCUMENTED)
    ]
    raised = {word for text in docstrings for raises in re.findall(r"Raises ([^.]*)\.", text) for word in re.findall(r"\w+", raises)}
    assert {word for word in raised if hasattr(errors, word)} <= exported_errors()
    assert raised


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generate the client with the commands of the page, and return its directory."""
    directory = tmp_path_factory.mktemp("client")
    document = json.loads((CHECKOUT / "openapi" / "generated" / "dataplane.json").read_text())
    document["paths"] = {path: each for path, each in document["paths"].items() if path.endswith(CALLED)}
    (directory / "dataplane.json").write_text(json.dumps(document))
    [settings] = re.findall(r"echo '(.*)' > client.yaml", PAGE.read_text())
    (directory / "client.yaml").write_text(f"{settings}\npost_hooks: []\n")
    [command] = re.findall(r"&& (openapi-python-client .*)", PAGE.read_text())
    program, *words = command.split()
    done = subprocess.run([Path(sys.executable).with_name(program), *words], cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return directory / "dataplane-sidecar-client"


def test_the_page_is_typed(tmp_path: Path, client: Path) -> None:
    for number, (code, _) in enumerate(BLOCKS.findall(PAGE.read_text())):
        (tmp_path / f"block{number}.py").write_text(code)
    assert types(*sorted(tmp_path.glob("*.py")), beside=client) == ""


def test_an_error_is_reported_again_from_the_cache(tmp_path: Path) -> None:
    """The error names the directory of the former run."""
    for name in ("first", "second"):
        file = tmp_path / name / "block_with_an_error.py"
        file.parent.mkdir()
        file.write_text('number: int = "a"\n')
        assert "Incompatible types" in types(file)


def test_the_page_is_true(tmp_path: Path, client: Path) -> None:
    blocks = BLOCKS.findall(PAGE.read_text())
    assert len(blocks) == PAGE.read_text().count("```python")
    for name, text in {"maps/hosts.map": "example.com app\n", "ssl/site.pem": made("www.example.com").pem}.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    with HAProxy(tmp_path, CONFIG.replace("{port}", str(free_port())).replace("{directory}", str(tmp_path))) as haproxy:
        sidecar = Sidecar(haproxy)
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "haproxy").symlink_to(haproxy.binary)
        environment = {
            name: f"{first}:{os.environ.get(name, '')}" for name, first in {"PATH": tmp_path / "bin", "PYTHONPATH": client}.items()
        }
        # The page has the usual paths, and the test has others.
        places = {
            "/etc/haproxy": str(tmp_path),
            "/var/lib/sidecar": str(tmp_path / "sidecar"),
            "/run/haproxy-master.sock": str(haproxy.master),
            SERVER: f"http://127.0.0.1:{sidecar.port}",
        }
        for is_remote, group in groupby(blocks, key=lambda block: SERVER in block[0]):
            codes, printed = zip(*group, strict=True)
            with sidecar if is_remote else nullcontext():
                command = [sys.executable, "-W", "error", "-c", ALONE, *(_with(code, places) for code in codes)]
                done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=CHECKOUT, env={**os.environ, **environment})
            assert done.stderr == ""
            assert [each.strip() for each in done.stdout.split(END)[:-1]] == [_with(each, places).strip() for each in printed]


def _with(text: str, places: Mapping[str, str]) -> str:
    for usual, ours in places.items():
        text = text.replace(usual, ours)
    return text
