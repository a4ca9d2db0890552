# Generated from openapi/ by `make generate`; do not edit.

from native.models import Model
from pydantic import StrictStr


class MapEntryValue(Model):
    value: StrictStr
