"""One module of the server replaces files, by a draft and a rename; nothing else renames one or makes temporary files by name."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.rules.sources import sources, tree

# The second is the client's, which imports nothing of the library.
WRITERS = {Path("native/haproxy_native/disk/atomic.py"), Path("app/dataplaneapi/ctl/files.py")}
# The journal writes in place where a rename is impossible, and so syncs.
SYNCS = {*WRITERS, Path("native/haproxy_native/disk/journal.py")}
OF_OS = {"rename", "renames", "replace", "link"}
TEMPORARY = {"NamedTemporaryFile", "mkstemp"}


def calls(root: ast.AST) -> Iterator[tuple[str, str, ast.Call]]:
    """What is called: the attribute's owner as far as it is a name, and the attribute; "" and the name of a plain call."""
    for node in ast.walk(root):
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Attribute):
                yield (function.value.id if isinstance(function.value, ast.Name) else ""), function.attr, node
            elif isinstance(function, ast.Name):
                yield "", function.id, node


def renames(root: ast.AST) -> list[str]:
    """`replace` with one argument is that of a path: of a text it takes two, of a value names."""
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
