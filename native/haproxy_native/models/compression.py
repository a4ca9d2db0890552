# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class Compression(Model):
    algo_req: Annotated[
        Literal['identity', 'gzip', 'deflate', 'raw-deflate'] | None,
        Field(alias='algo-req'),
    ] = None
    algorithms: list[Literal['identity', 'gzip', 'deflate', 'raw-deflate']] | None = (
        None
    )
    algos_res: Annotated[
        list[Literal['identity', 'gzip', 'deflate', 'raw-deflate']] | None,
        Field(alias='algos-res'),
    ] = None
    direction: Literal['request', 'response', 'both'] | None = None
    minsize_req: StrictInt | None = None
    minsize_res: StrictInt | None = None
    offload: StrictBool | None = None
    types: list[StrictStr] | None = None
    types_req: Annotated[list[StrictStr] | None, Field(alias='types-req')] = None
    types_res: Annotated[list[StrictStr] | None, Field(alias='types-res')] = None
