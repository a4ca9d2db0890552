"""Generate native/haproxy_native/objects/blocking.pyi: the types of the objects whose calls wait for their results.

They are those of the asynchronous objects, without `async`. At run time one class stands for all of them.
"""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

HEAD = "# Generated from the modules of this package by `make generate`; do not edit."
MODULES = ("running", "stored", "haproxy")
# Imports beside those of the modules.
IMPORTS = "from contextlib import AbstractContextManager\nfrom haproxy_native.objects.haproxy import ConfigurationChange"
# What is the same for both kinds of callers.
SHARED = ("ConfigurationChange",)


def stub(package: Path) -> str:
    """Return the stub, made of the modules of a package."""
    statements = [node for name in MODULES for node in ast.parse((package / f"{name}.py").read_text()).body]
    classes = [_class(node) for node in statements if isinstance(node, ast.ClassDef) and node.name not in SHARED]
    opening = next(_function(node) for node in statements if isinstance(node, ast.AsyncFunctionDef) and node.name == "open")
    opening.name = "open_sync"
    declared = "\n\n".join(map(ast.unparse, [*classes, opening]))
    names = (node for node in ast.walk(ast.parse(declared)) if isinstance(node, ast.Name))
    used = {name.id for name in names if isinstance(name.ctx, ast.Load)}
    own = {each.name for each in classes}
    imports = sorted(set(_imports([*statements, *ast.parse(IMPORTS).body], used - own)))
    return "\n".join([HEAD, "", *imports, "", declared, ""])


def _imports(statements: Iterable[ast.stmt], names: set[str]) -> Iterator[str]:
    """Yield the imports of these names, one each."""
    for node in statements:
        if isinstance(node, ast.If):
            yield from _imports(node.body, names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"from {node.module} import {each.name}" for each in node.names if each.name in names)


def _class(node: ast.ClassDef) -> ast.ClassDef:
    """Return the declaration of a class: its public names, and the attributes that are declared in its body."""
    body: list[ast.stmt] = []
    for member in node.body:
        if isinstance(member, ast.AnnAssign):
            body.append(member)
        elif isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef) and (member.name[0] != "_" or member.name == "__getitem__"):
            body.append(_function(member))
    return ast.ClassDef(node.name, node.bases, [], [*_docstring(node), *body], [])


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.FunctionDef:
    """Return the declaration of a function that waits. What was for `async with` is for `with`."""
    returns, decorators = node.returns, [each for each in node.decorator_list if ast.unparse(each) != "asynccontextmanager"]
    if decorators != node.decorator_list and isinstance(returns, ast.Subscript):
        returns = ast.Subscript(ast.Name("AbstractContextManager"), returns.slice, ast.Load())
    if isinstance(returns, ast.Constant) and isinstance(returns.value, str):
        returns = ast.parse(returns.value, mode="eval").body
    return ast.FunctionDef(node.name, node.args, [*_docstring(node), ast.Expr(ast.Constant(...))], decorators, returns, lineno=0)


def _docstring(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    text = ast.get_docstring(node, clean=False)
    return [ast.Expr(ast.Constant(text.replace("async with", "with")))] if text else []
