# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class Balance(Model):
    algorithm: Literal['first', 'hash', 'hdr', 'leastconn', 'random', 'rdp-cookie', 'roundrobin', 'source', 'static-rr', 'uri', 'url_param']
    hash_expression: StrictStr | None = None
    hdr_name: StrictStr | None = None
    hdr_use_domain_only: StrictBool | None = None
    random_draws: StrictInt | None = None
    rdp_cookie_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    uri_depth: StrictInt | None = None
    uri_len: StrictInt | None = None
    uri_path_only: StrictBool | None = None
    uri_whole: StrictBool | None = None
    url_param: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    url_param_check_post: StrictInt | None = None
    url_param_max_wait: StrictInt | None = None
