# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictBool


class UseSmallBuffers(Model):
    check: StrictBool | None = None
    enabled: Literal['enabled', 'disabled']
    l7_retries: StrictBool | None = None
    queue: StrictBool | None = None
