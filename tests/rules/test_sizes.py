"""Sizes that keep a file one idea and a function one thought. What is over stands in sizes.toml, which only shrinks."""

import ast
import tomllib
from pathlib import Path
from statistics import median

from tests.rules.sources import lines, sources, tree

LONGEST_FILE, MEDIAN_FILE = 400, 150
LONGEST_FUNCTION, MEDIAN_FUNCTION = 80, 8
OVER = tomllib.loads(Path(__file__).with_name("sizes.toml").read_text())["over"]


def functions(path: Path) -> list[tuple[str, int]]:
    """Name and lines of each function; a nested one counts in the outer one too."""
    found = (node for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return [(f"{path}:{node.name}", (node.end_lineno or node.lineno) - node.lineno + 1) for node in found]


def test_none_is_over_its_limit() -> None:
    over = {}
    for path in (*sources(), *sources("tests")):
        over.update({str(path): lines(path)} if lines(path) > LONGEST_FILE else {})
        over.update({name: size for name, size in functions(path) if size > LONGEST_FUNCTION})
    assert over == OVER, "sizes.toml lists exactly what is over, with its size"


def test_the_middle_file_is_short() -> None:
    assert median(size for path in sources() if (size := lines(path))) <= MEDIAN_FILE


def test_the_middle_function_is_short() -> None:
    assert median(size for path in sources() for _, size in functions(path)) <= MEDIAN_FUNCTION
