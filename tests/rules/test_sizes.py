"""Files and functions have a maximum size. sizes.toml lists every exception with its size."""

import ast
import tomllib
from pathlib import Path

from tests.rules.sources import lines, sources, tree

LONGEST_FILE, LONGEST_FUNCTION = 800, 80
OVER = tomllib.loads(Path(__file__).with_name("sizes.toml").read_text())["over"]


def functions(path: Path) -> list[tuple[str, int]]:
    """Return the name and the number of lines of each function. The lines of a nested function count for the outer function as well."""
    found = (node for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return [(f"{path}:{node.name}", (node.end_lineno or node.lineno) - node.lineno + 1) for node in found]


def test_none_is_over_its_limit() -> None:
    over = {}
    for path in (*sources(), *sources("tests")):
        over.update({str(path): lines(path)} if lines(path) > LONGEST_FILE else {})
        over.update({name: size for name, size in functions(path) if size > LONGEST_FUNCTION})
    assert over == OVER, "sizes.toml lists exactly what is over, with its size"
