"""Features can be removed: only the listed modules import a feature, and features import only the listed features."""

from collections.abc import Iterator
from pathlib import Path

from dataplaneapi.feature_list import FEATURES, FOLDER
from tests.rules.sources import module, sources
from tests.rules.test_imports import imported

FOLDERS = (f"{FOLDER}.", "haproxy_native.features.")
# The features that a feature needs.
NEEDS = {"drift": {"overrides"}, "fleet": {"confirmations"}, "routing_tests": {"explain"}}


def feature(name: str) -> str:
    """Return the feature of a module; '' for a module of the core."""
    return next((name.removeprefix(folder).split(".")[0] for folder in FOLDERS if name.startswith(folder)), "")


def needed(path: Path) -> Iterator[str]:
    own = feature(module(path))
    yield from {other for name in imported(path) if (other := feature(name)) and other != own}


def test_no_other_feature_is_needed() -> None:
    undeclared = {str(path): set(needed(path)) - NEEDS.get(feature(module(path)), set()) for path in sources("app", "native")}
    assert {path: names for path, names in undeclared.items() if names} == {}


def test_each_folder_is_listed() -> None:
    """A feature has a folder in the server, and may have another below it."""
    listed = [name for name, _ in FEATURES]
    for root, is_needed in ((Path("app/dataplaneapi/features"), True), (Path("native/haproxy_native/features"), False)):
        there = {path.parent.name for path in root.glob("*/__init__.py")}
        assert there <= set(listed)
        assert not is_needed or there == set(listed)
    assert all(listed.index(other) < listed.index(name) for name, others in NEEDS.items() for other in others)
