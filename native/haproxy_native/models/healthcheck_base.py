# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictStr

from . import httpchk_params as httpchk_params_1
from . import mysql_check_params as mysql_check_params_1
from . import pgsql_check_params as pgsql_check_params_1
from . import smtpchk_params as smtpchk_params_1


class HealthcheckBase(Model):
    """A health check that servers refer to, one healthcheck section."""

    httpchk_params: httpchk_params_1.HttpchkParams | None = None
    """Request of an HTTP check."""
    mysql_check_params: mysql_check_params_1.MysqlCheckParams | None = None
    """Login of a MySQL check."""
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_.:]+$')]
    """Name of the section."""
    pgsql_check_params: pgsql_check_params_1.PgsqlCheckParams | None = None
    """Login of a PostgreSQL check."""
    smtpchk_params: smtpchk_params_1.SmtpchkParams | None = None
    """Greeting of an SMTP check."""
    type: Literal['httpchk', 'ldap-check', 'mysql-check', 'pgsql-check', 'redis-check', 'smtpchk', 'spop-check', 'ssl-hello-chk', 'tcp-check'] | None = (
        None
    )
    """Protocol that is checked."""
