# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictBool, StrictInt

from . import httpproxy as httpproxy_1


class OcspUpdateOptions(Model):
    disable: StrictBool | None = None
    httpproxy: httpproxy_1.Httpproxy | None = None
    maxdelay: StrictInt | None = None
    mindelay: StrictInt | None = None
    mode: Literal['enabled', 'disabled'] | None = None
