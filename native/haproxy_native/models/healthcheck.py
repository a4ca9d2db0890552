# Generated from openapi/ by `make generate`; do not edit.

from . import http_checks, tcp_checks
from .healthcheck_base import HealthcheckBase


class Healthcheck(HealthcheckBase):
    """A healthcheck section with its steps."""

    http_check_list: http_checks.HttpChecks | None = None
    """Steps of an HTTP check."""
    tcp_check_list: tcp_checks.TcpChecks | None = None
    """Steps of a TCP check."""
