# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class SpoeGroup(Model):
    messages: StrictStr | None = None
    name: StrictStr
