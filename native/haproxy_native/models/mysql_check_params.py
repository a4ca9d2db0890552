# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictStr


class MysqlCheckParams(Model):
    client_version: Literal['pre-41', 'post-41'] | None = None
    username: StrictStr | None = None
