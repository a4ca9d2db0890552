# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import stats_auth, stats_http_request


class StatsOptions(Model):
    """The statistics page (HAProxy Configuration Manual, section 4.2 \"stats enable\")."""

    stats_admin: StrictBool | None = None
    """Whether the page can change the states of servers, on a condition."""
    stats_admin_cond: Literal['if', 'unless'] | None = None
    """Whether that condition has to hold or to fail."""
    stats_admin_cond_test: StrictStr | None = None
    """ACLs of that condition."""
    stats_auths: list[stats_auth.StatsAuth] | None = None
    """Users who may see the page."""
    stats_enable: StrictBool | None = None
    """Whether there is a page."""
    stats_hide_version: StrictBool | None = None
    """Whether HAProxy's version is not shown."""
    stats_http_requests: list[stats_http_request.StatsHttpRequest] | None = None
    """Rules of access to the page."""
    stats_maxconn: Annotated[StrictInt | None, Field(ge=1)] = None
    """Connections to the statistics socket at the same time."""
    stats_realm: StrictBool | None = None
    """Whether the login has a realm of its own."""
    stats_realm_realm: StrictStr | None = None
    """What that realm is called."""
    stats_refresh_delay: Annotated[StrictInt | None, Field(ge=0)] = None
    """Milliseconds between two updates of the page."""
    stats_show_desc: StrictStr | None = None
    """Text that the page begins with."""
    stats_show_legends: StrictBool | None = None
    """Whether more is shown under the mouse."""
    stats_show_modules: StrictBool | None = None
    """Whether the counters of modules are shown."""
    stats_show_node_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Host name that the page shows."""
    stats_show_version: StrictBool | None = None
    """Whether HAProxy's version is shown."""
    stats_uri_prefix: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Path below which the page is."""
