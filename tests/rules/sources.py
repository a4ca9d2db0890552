"""Return the source files of the project as paths, module names and syntax trees, for all rules."""

import ast
from functools import cache
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
PACKAGES = ("app", "native", "openapi", "bench", "demo")
GENERATED = ("native/haproxy_native/models/", "openapi/generated/", "app/dataplaneapi/ctl/kinds.py")
# The directories of packages that are not in a directory of their own name.
ROOTS = ("app", "native")
OURS = ("dataplaneapi", "haproxy_native", "openapi", "bench", "demo")


@cache
def sources(*packages: str) -> tuple[Path, ...]:
    """Return the Python files that are not generated, relative to the checkout. Without `packages`, return those of every package."""
    found = (path.relative_to(CHECKOUT) for package in packages or PACKAGES for path in (CHECKOUT / package).rglob("*.py"))
    return tuple(sorted(path for path in found if not path.as_posix().startswith(GENERATED)))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse((CHECKOUT / path).read_text(), str(path))


def module(path: Path) -> str:
    """Return the name under which a file is imported."""
    parts = path.with_suffix("").parts
    return ".".join(parts[parts[0] in ROOTS :]).removesuffix(".__init__")


def lines(path: Path) -> int:
    return len((CHECKOUT / path).read_text().splitlines())
