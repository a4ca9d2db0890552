"""The effect of a change depends only on its arguments. No context variable has its author, or changes its effect.

A task or timer inherits every context variable from the code that starts it, also if that is not intended.
"""

import ast
from collections.abc import Iterator

from tests.rules.sources import module, sources, tree

# For logs, records and traces, and what a task computes for: whose result nobody waits for any more, and drafts that become no files.
AMBIENT = {
    "dataplaneapi.telemetry.traces._current",
    "haproxy_native.abandonment._waiting",
    "haproxy_native.disk.file.drafts_directory",
    "haproxy_native.request_context.origin",
}


def declared() -> Iterator[str]:
    for path in sources("app", "native"):
        for node in ast.walk(tree(path)):
            value = getattr(node, "value", None)
            if isinstance(node, ast.AnnAssign | ast.Assign) and isinstance(value, ast.Call) and "ContextVar" in ast.unparse(value.func):
                for target in [node.target] if isinstance(node, ast.AnnAssign) else node.targets:
                    yield f"{module(path)}.{ast.unparse(target)}"


def test_nothing_else_is_ambient() -> None:
    assert set(declared()) == AMBIENT
