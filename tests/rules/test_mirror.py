"""Tests mirror the source: native/haproxy_native/check/check.py is tested by tests/native/check/test_check.py, without the package's name.

What has no such file yet stands in mirror.toml with the test that covers it; the list may only shrink.
"""

import ast
import tomllib
from pathlib import Path

from tests.rules.sources import CHECKOUT, ROOTS, sources, tree

RULES = tomllib.loads(Path(__file__).with_name("mirror.toml").read_text())


def holds_code(path: Path) -> bool:
    return any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in ast.walk(tree(path)))


def mirror(path: Path) -> Path:
    if path.parts[0] in ROOTS:
        path = Path(path.parts[0], *path.parts[2:])
    package = path.name == "__init__.py"
    return Path("tests", path.parent.parent if package else path.parent, f"test_{path.parent.name if package else path.stem.strip('_')}.py")


def test_every_file_has_its_test() -> None:
    without = {str(path) for path in sources() if holds_code(path) and not (CHECKOUT / mirror(path)).exists()}
    assert without == set(RULES["covered_by"]), "mirror.toml lists exactly the files without a test of their own"


def test_the_list_only_shrinks() -> None:
    assert len(RULES["covered_by"]) <= RULES["at_most"]


def test_what_covers_them_is_there() -> None:
    assert [test for test in RULES["covered_by"].values() if not (CHECKOUT / test).exists()] == []
