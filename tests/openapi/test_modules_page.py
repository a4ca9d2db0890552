"""The page of modules."""

from openapi.modules_page import page
from tests.rules.sources import lines, sources


def test_every_module_stands_on_it() -> None:
    text, package = page(), ""
    listed = set()
    for line in text.splitlines():
        if line.startswith("## `"):
            package = line.split("`")[1]
            listed.add(f"{package}/__init__.py")
        elif line.startswith("| `"):
            name, what = line.split("`")[1], line.split("|")[2].strip()
            listed.add(f"{package}/{name}")
            assert what, f"{package}/{name} does not say what it is"
    assert {str(path) for path in sources() if lines(path)} <= listed
