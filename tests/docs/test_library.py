"""What docs/library.md shows is run beside a real HAProxy, without `dataplaneapi`, and prints what it says."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import haproxy_native
from haproxy_native import errors, objects
from tests.haproxy.process import HAProxy
from tests.native.objects.types import types
from tests.rules.sources import CHECKOUT

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

backend app from base
    balance   roundrobin
    server one 127.0.0.1:8081 weight 10
    server two 127.0.0.1:8082
"""
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
ALONE = "import sys; sys.modules.update(dataplaneapi=None, fastapi=None)\n"


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


def test_the_page_is_typed(tmp_path: Path) -> None:
    for number, (code, _) in enumerate(BLOCKS.findall(PAGE.read_text())):
        (tmp_path / f"block{number}.py").write_text(code)
    assert types(*sorted(tmp_path.glob("*.py"))) == ""


def test_the_page_is_true(tmp_path: Path) -> None:
    blocks = BLOCKS.findall(PAGE.read_text())
    assert len(blocks) == PAGE.read_text().count("```python")
    with HAProxy(tmp_path, CONFIG) as haproxy:
        # The page names the usual places; the test has others.
        places = {
            "/etc/haproxy": str(tmp_path),
            "/var/lib/sidecar": str(tmp_path / "sidecar"),
            "/run/haproxy-master.sock": str(haproxy.master),
            '="haproxy"': f'="{haproxy.binary}"',
        }
        for code, printed in blocks:
            for usual, ours in places.items():
                code, printed = code.replace(usual, ours), printed.replace(usual, ours)
            command = [sys.executable, "-W", "error", "-c", ALONE + code]
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=CHECKOUT)
            assert done.stderr == ""
            assert done.stdout.strip() == printed.strip()
