# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel, StrictStr


class MonitorUri(RootModel[StrictStr]):
    """Path that is answered at once for monitors in front of HAProxy."""

    root: StrictStr
