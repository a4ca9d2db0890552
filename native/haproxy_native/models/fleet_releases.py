# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel

from . import fleet_release


class FleetReleases(RootModel[list[fleet_release.FleetRelease]]):
    """The releases."""

    root: list[fleet_release.FleetRelease]
