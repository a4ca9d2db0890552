"""Regular expressions have the same meaning on every Python. Up to 3.11.4, possessive quantifiers and atomic groups have faults."""

import ast
import importlib
import re
from collections.abc import Iterator

import pytest

from tests.rules.sources import CHECKOUT, module, sources, tree

MISREAD = re.compile(r"(?<!\\)[+*?}]\+|\(\?>")
PACKAGES = ("app", "native", "openapi", "bench", "demo")
COMPILING = [path for path in sources(*PACKAGES) if "re.compile(" in (CHECKOUT / path).read_text()]
CHARACTERS = re.compile(r"\[(?:\\.|[^\]\\])*\]")
HEAD_OF_A_DIFF = "+" * 3 + " "


def texts(root: ast.AST) -> Iterator[str]:
    """Return every string literal below the node. Each inserted value of an f-string is one letter."""
    for node in ast.walk(root):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def is_misread(text: str) -> bool:
    return MISREAD.search(CHARACTERS.sub("x", text.replace(HEAD_OF_A_DIFF, ""))) is not None


@pytest.mark.parametrize("text", [r"a+" + "+", "(?" + ">a)", "[ab]?" + "+", "a{2,3}" + "+"])
def test_misread_patterns_are_found(text: str) -> None:
    assert is_misread(text)


def test_no_literal_is_a_pattern_that_some_python_misreads() -> None:
    suspects = [path for path in sources(*PACKAGES, "tests") if MISREAD.search((CHECKOUT / path).read_text())]
    assert [(str(path), text) for path in suspects for text in texts(tree(path)) if is_misread(text)] == []


def test_no_pattern_put_together_is_misread() -> None:
    values = [(str(path), value) for path in COMPILING for value in vars(importlib.import_module(module(path))).values()]
    patterns = [(path, str(value.pattern)) for path, value in values if isinstance(value, re.Pattern)]
    assert patterns
    assert [(path, pattern) for path, pattern in patterns if is_misread(pattern)] == []
