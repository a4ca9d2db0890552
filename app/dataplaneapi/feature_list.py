"""List the features, and find the installed ones. A feature is installed if its folder exists.

If a folder is missing, the OpenAPI document omits the operations and parameters of the feature. `make core` removes the folders of all
features and runs the contract tests.
"""

from collections.abc import Collection, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pkgutil import resolve_name
from typing import Any

FOLDER = "dataplaneapi.features"
# In the order in which they are created and started: a feature may use earlier ones. A feature that has only operations has no class.
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
    """Return whether the folder of a feature exists."""
    return find_spec(f"{FOLDER}.{name}") is not None


def missing() -> Collection[str]:
    """Return the names of the features whose folders are missing."""
    return frozenset(name for name, _ in FEATURES if not is_installed(name))


def installed() -> Sequence[Any]:
    """Import and return the classes of the installed features: subclasses of `api.feature.Feature`."""
    return [resolve_name(f"{FOLDER}.{name}.feature:{class_}") for name, class_ in FEATURES if class_ and is_installed(name)]


def modules(name: str) -> Iterator[Any]:
    """For each installed feature that has a module of this name, import and yield the module."""
    for feature, _ in FEATURES:
        if is_installed(feature) and find_spec(place := f"{FOLDER}.{feature}.{name}"):
            yield import_module(place)
