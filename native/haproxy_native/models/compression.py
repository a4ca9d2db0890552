# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class Compression(Model):
    """What is compressed, and how (HAProxy Configuration Manual, section 4.2 \"compression\")."""

    algo_req: Annotated[
        Literal['identity', 'gzip', 'deflate', 'raw-deflate'] | None,
        Field(alias='algo-req'),
    ] = None
    """Algorithm for requests."""
    algorithms: list[Literal['identity', 'gzip', 'deflate', 'raw-deflate']] | None = (
        None
    )
    """Algorithms for responses where no direction is named."""
    algos_res: Annotated[
        list[Literal['identity', 'gzip', 'deflate', 'raw-deflate']] | None,
        Field(alias='algos-res'),
    ] = None
    """Algorithms for responses."""
    direction: Literal['request', 'response', 'both'] | None = None
    """Which messages are compressed."""
    minsize_req: StrictInt | None = None
    """Bytes from which requests are compressed."""
    minsize_res: StrictInt | None = None
    """Bytes from which responses are compressed."""
    offload: StrictBool | None = None
    """Whether servers are not asked to compress."""
    types: list[StrictStr] | None = None
    """Media types that are compressed where no direction is named."""
    types_req: Annotated[list[StrictStr] | None, Field(alias='types-req')] = None
    """Media types of requests that are compressed."""
    types_res: Annotated[list[StrictStr] | None, Field(alias='types-res')] = None
    """Media types of responses that are compressed."""
