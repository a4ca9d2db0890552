# Generated from openapi/ by `make generate`; do not edit.

from . import http_checks, tcp_checks
from .healthcheck_base import HealthcheckBase


class Healthcheck(HealthcheckBase):
    http_check_list: http_checks.HttpChecks | None = None
    tcp_check_list: tcp_checks.TcpChecks | None = None
