# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from .haproxy_message import HaproxyMessage


class Alert(HaproxyMessage):
    level: Literal['alert', 'warning', 'notice', 'diag'] | None = None
