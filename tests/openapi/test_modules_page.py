"""Generate the page of modules."""

from openapi.modules_page import PLACES, page
from tests.rules.sources import sources


def test_every_module_stands_on_it() -> None:
    heads, package = [*page().splitlines(), ""], ""
    listed = set()
    for number, line in enumerate(heads[:-1]):
        if line.startswith("## `"):
            package = line.split("`")[1]
            listed.add(f"{package}/__init__.py")
            assert heads[number + 2], f"{package} does not say what it is"
        elif line.startswith("| `"):
            name, what = line.split("`")[1], line.split("|")[2].strip()
            listed.add(f"{package}/{name}")
            assert what, f"{package}/{name} does not say what it is"
    assert {str(path) for path in sources(*PLACES)} <= listed
