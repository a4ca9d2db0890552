# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import stats_auth, stats_http_request


class StatsOptions(Model):
    stats_admin: StrictBool | None = None
    stats_admin_cond: Literal['if', 'unless'] | None = None
    stats_admin_cond_test: StrictStr | None = None
    stats_auths: list[stats_auth.StatsAuth] | None = None
    stats_enable: StrictBool | None = None
    stats_hide_version: StrictBool | None = None
    stats_http_requests: list[stats_http_request.StatsHttpRequest] | None = None
    stats_maxconn: Annotated[StrictInt | None, Field(ge=1)] = None
    stats_realm: StrictBool | None = None
    stats_realm_realm: StrictStr | None = None
    stats_refresh_delay: Annotated[StrictInt | None, Field(ge=0)] = None
    stats_show_desc: StrictStr | None = None
    stats_show_legends: StrictBool | None = None
    stats_show_modules: StrictBool | None = None
    stats_show_node_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    stats_show_version: StrictBool | None = None
    stats_uri_prefix: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
