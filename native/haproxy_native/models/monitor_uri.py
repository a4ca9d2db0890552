# Generated from openapi/ by `make generate`; do not edit.

from pydantic import RootModel, StrictStr


class MonitorUri(RootModel[StrictStr]):
    root: StrictStr
