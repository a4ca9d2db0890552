"""The project's own source files, as paths, module names and syntax trees: what every rule looks at."""

import ast
from functools import cache
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
PACKAGES = ("app", "native", "openapi", "bench", "demo")
GENERATED = ("native/haproxy_native/models/", "openapi/generated/", "app/dataplaneapi/ctl/kinds.py")
# Where packages that stand in no directory of their name begin.
ROOTS = ("app", "native")
OURS = ("dataplaneapi", "haproxy_native", "openapi", "bench", "demo")


@cache
def sources(*packages: str) -> tuple[Path, ...]:
    """Python files written by hand, relative to the checkout; of every package when none is named."""
    found = (path.relative_to(CHECKOUT) for package in packages or PACKAGES for path in (CHECKOUT / package).rglob("*.py"))
    return tuple(sorted(path for path in found if not path.as_posix().startswith(GENERATED)))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse((CHECKOUT / path).read_text(), str(path))


def module(path: Path) -> str:
    """The name under which a file is imported."""
    parts = path.with_suffix("").parts
    return ".".join(parts[parts[0] in ROOTS :]).removesuffix(".__init__")


def lines(path: Path) -> int:
    return len((CHECKOUT / path).read_text().splitlines())
