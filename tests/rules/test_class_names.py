"""Each class name is unique: no two modules define classes with the same name, including private classes."""

import ast
from collections import defaultdict
from collections.abc import Iterable

from tests.rules.sources import sources, tree


def defined(code: ast.Module) -> list[str]:
    """Return the classes of a module. Classes inside of a class or function are left out."""
    return [node.name for node in code.body if isinstance(node, ast.ClassDef)]


def repeated(modules: Iterable[tuple[str, ast.Module]]) -> dict[str, list[str]]:
    by_name = defaultdict[str, list[str]](list)
    for path, code in modules:
        for name in defined(code):
            by_name[name].append(path)
    return {name: paths for name, paths in by_name.items() if len(paths) > 1}


def test_no_class_name_is_defined_twice() -> None:
    """Generated models have the names of the API's schemas, and are exempt."""
    assert repeated((str(path), tree(path)) for path in sources("app", "native")) == {}


def test_a_repeated_name_is_seen() -> None:
    first, second = ast.parse("class A:\n    class B: pass\nclass _C: pass"), ast.parse("class B: pass\nclass _C: pass\nD = 1")
    assert repeated([("a", first), ("b", second)]) == {"_C": ["a", "b"]}
