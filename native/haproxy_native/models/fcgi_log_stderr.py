# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import sample as sample_1


class FcgiLogStderr(Model):
    address: StrictStr | None = None
    facility: StrictStr | None = None
    format: StrictStr | None = None
    global_: Annotated[StrictBool | None, Field(alias='global')] = None
    len: StrictInt | None = None
    level: StrictStr | None = None
    minlevel: StrictStr | None = None
    sample: sample_1.Sample | None = None
