"""Only one module of the server replaces files, by a draft and a rename. No other module renames files or creates named temporary files."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.rules.sources import sources, tree

# The second module belongs to the client, which does not import the library.
WRITERS = {Path("native/haproxy_native/disk/atomic.py"), Path("app/dataplaneapi/ctl/files.py")}
# The journal writes in place if a rename is impossible, and therefore syncs.
SYNCS = {*WRITERS, Path("native/haproxy_native/disk/journal.py")}
OF_OS = {"rename", "renames", "replace", "link"}
TEMPORARY = {"NamedTemporaryFile", "mkstemp"}


def calls(root: ast.AST) -> Iterator[tuple[str, str, ast.Call]]:
    """Return the calls: owner and attribute of each called attribute, or "" and the name of a called function."""
    for node in ast.walk(root):
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Attribute):
                yield (function.value.id if isinstance(function.value, ast.Name) else ""), function.attr, node
            elif isinstance(function, ast.Name):
                yield "", function.id, node


def renames(root: ast.AST) -> list[str]:
    """Return the renames. `replace` with one argument is that of a path; that of a text has two, and that of a value has names."""
    return [
        f"{owner}.{name} in line {node.lineno}"
        for owner, name, node in calls(root)
        if (owner == "os" and name in OF_OS)
        or name in TEMPORARY
        or (name in ("rename", "replace") and len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred))
    ]


def test_what_the_rule_sees() -> None:
    seen = "os.replace(a, b)\npath.replace(b)\na().rename(b)\ntempfile.mkstemp()\nNamedTemporaryFile()"
    unseen = "text.replace(a, b)\nreplace(a, b=c)\ndataclasses.replace(a, b=c)\neditor.replace(a, b, c)"
    assert (len(renames(ast.parse(seen))), renames(ast.parse(unseen))) == (5, [])


def test_nothing_else_replaces_files() -> None:
    assert {str(path): found for path in sources("app", "native") if path not in WRITERS and (found := renames(tree(path)))} == {}
    assert all(renames(tree(path)) for path in WRITERS)


def test_nothing_else_waits_for_the_disk() -> None:
    found = {path for path in sources("app", "native") if any(name in ("fsync", "fdatasync") for _, name, _ in calls(tree(path)))}
    assert found == SYNCS
