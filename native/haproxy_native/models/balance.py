# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class Balance(Model):
    """How a server is chosen, the balance line (HAProxy Configuration Manual, section 4.2)."""

    algorithm: Literal['first', 'hash', 'hdr', 'leastconn', 'random', 'rdp-cookie', 'roundrobin', 'source', 'static-rr', 'uri', 'url_param']
    """Name of the method; it tells which other members count."""
    hash_expression: StrictStr | None = None
    """Sample expression whose result is hashed."""
    hdr_name: StrictStr | None = None
    """Header whose value is hashed."""
    hdr_use_domain_only: StrictBool | None = None
    """Whether only the main part of a host name is hashed."""
    random_draws: StrictInt | None = None
    """Servers drawn at a time, of which the least loaded is taken."""
    rdp_cookie_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """RDP cookie that is hashed."""
    uri_depth: StrictInt | None = None
    """Directory levels of the URI that are hashed."""
    uri_len: StrictInt | None = None
    """Characters of the URI that are hashed."""
    uri_path_only: StrictBool | None = None
    """Whether the path alone is hashed, without scheme and authority."""
    uri_whole: StrictBool | None = None
    """Whether the query string is hashed, too."""
    url_param: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Parameter of the query string that is hashed."""
    url_param_check_post: StrictInt | None = None
    """Size from which the body of POST requests is searched as well."""
    url_param_max_wait: StrictInt | None = None
    """Bytes of the body that are waited for at most."""
