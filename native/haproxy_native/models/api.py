# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import AwareDatetime, StrictStr


class Api(Model):
    build_date: AwareDatetime | None = None
    version: StrictStr | None = None
