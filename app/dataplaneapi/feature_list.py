"""The features, and which of them are there. Without its folder, the operations and parameters of a feature are not in the document.

`make core` removes all of them, and runs the tests of the contract.
"""

from collections.abc import Collection, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pkgutil import resolve_name
from typing import Any

FOLDER = "dataplaneapi.features"
# In the order in which they are made and started: a feature may use those before it. A feature with operations alone has no class.
FEATURES: Sequence[tuple[str, str]] = (
    ("history", ""),
    ("events", "EventsFeature"),
    ("explain", "ExplainFeature"),
    ("confirmations", "ConfirmationsFeature"),
    ("apply", "ApplyFeature"),
    ("fleet", "FleetFeature"),
    ("overrides", "OverridesFeature"),
    ("drains", "DrainsFeature"),
    ("drift", "DriftFeature"),
    ("splits", "SplitsFeature"),
    ("routing_tests", "RoutingTestsFeature"),
    ("lint", ""),
    ("references", ""),
    ("page", "PageFeature"),
    ("metrics", "MetricsFeature"),
)


def is_installed(name: str) -> bool:
    """Return whether the folder of a feature is there."""
    return find_spec(f"{FOLDER}.{name}") is not None


def missing() -> Collection[str]:
    """Return the names of the features whose folders are not there."""
    return frozenset(name for name, _ in FEATURES if not is_installed(name))


def installed() -> Sequence[Any]:
    """Return the classes of the features that are there, imported: subclasses of `api.feature.Feature`."""
    return [resolve_name(f"{FOLDER}.{name}.feature:{class_}") for name, class_ in FEATURES if class_ and is_installed(name)]


def modules(name: str) -> Iterator[Any]:
    """Yield the modules of this name of the features that have one."""
    for feature, _ in FEATURES:
        if is_installed(feature) and find_spec(place := f"{FOLDER}.{feature}.{name}"):
            yield import_module(place)
