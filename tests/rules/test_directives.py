"""HAProxy directives are declared only in openapi/. No source file of native/ and app/ may contain one.

The directives come from the binary (`haproxy -dKall`). Those that it does not list come from directives.toml, which also has the
justified exceptions. Docstrings are exempt.
"""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rules.sources import sources, tree

RULES = tomllib.loads(Path(__file__).with_name("directives.toml").read_text())
HOMES = {Path("native/haproxy_native/grammar/codecs.py")}


@pytest.fixture(scope="module")
def directives(haproxy_binary: str) -> frozenset[str]:
    """Return every word that begins a line or an option, and every family with its action, such as `http-request deny`."""
    listed = subprocess.run([haproxy_binary, "-dKall", "-q", "-c", "-f", "/dev/null"], capture_output=True, text=True, check=False).stdout
    block = listed.split("configuration keywords:")[1].split("\n# List")[0]
    entries = [re.sub(r"<\S+>|\+\d+|[*]$", "", line).split() for line in block.splitlines() if line.startswith("\t")]
    words = {entry[0] for entry in entries} | {entry[1] for entry in entries if entry[0] in ("bind", "server", "option") and len(entry) > 1}
    pairs = {" ".join(entry[:2]) for entry in entries if len(entry) > 1}
    assert len(words) > 300, "the binary lists its keywords in another form"
    return frozenset(words | pairs | set(RULES["parsed_by_hand"])) - set(RULES["ordinary"])


def literals(path: Path) -> Iterator[str]:
    """Return the string constants of a program, including the fixed parts of f-strings."""
    statements = {id(node.value) for node in ast.walk(tree(path)) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in statements:
            yield node.value


def held(path: Path, directives: frozenset[str]) -> set[str]:
    """Return the directives in a file's literals: whole literals, lists of directives in one string, or the first two words of a line."""
    found = set()
    for text in literals(path):
        words = text.split()
        found |= {text.strip(), " ".join(words[:2])} & directives
        if len(words) > 1 and all(word in directives or word in RULES["ordinary"] for word in words):
            found |= set(words) & directives
    return found


def test_no_source_holds_a_directive(directives: frozenset[str]) -> None:
    files = [path for path in sources("app", "native") if path not in HOMES]
    holding = {str(path): sorted(words) for path in files if (words := held(path, directives))}
    assert holding == {name: sorted(entry["words"]) for name, entry in RULES["exceptions"].items()}


def test_exceptions_only_shrink_and_have_a_reason() -> None:
    assert sum(len(entry["words"]) for entry in RULES["exceptions"].values()) <= RULES["at_most"]
    assert all(entry["reason"] for entry in RULES["exceptions"].values())


def test_a_directive_would_be_seen(directives: frozenset[str]) -> None:
    assert {"default_backend", "slowstart", "http-request deny", "tune.bufsize", "forwardfor", "nameserver"} <= directives
