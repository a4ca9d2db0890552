# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr

from . import log_targets


class SpoeAgent(Model):
    async_: Annotated[Literal['enabled', 'disabled'] | None, Field(alias='async')] = (
        None
    )
    continue_on_error: Annotated[
        Literal['enabled'] | None, Field(alias='continue-on-error')
    ] = None
    dontlog_normal: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='dontlog-normal')
    ] = None
    engine_name: Annotated[StrictStr | None, Field(alias='engine-name')] = None
    force_set_var: Annotated[
        Literal['enabled'] | None, Field(alias='force-set-var')
    ] = None
    groups: StrictStr | None = None
    hello_timeout: StrictInt | None = None
    idle_timeout: StrictInt | None = None
    log: log_targets.LogTargets | None = None
    max_frame_size: Annotated[StrictInt | None, Field(alias='max-frame-size')] = None
    max_waiting_frames: Annotated[
        StrictInt | None, Field(alias='max-waiting-frames')
    ] = None
    maxconnrate: StrictInt | None = None
    maxerrrate: StrictInt | None = None
    messages: StrictStr | None = None
    name: StrictStr
    option_set_on_error: Annotated[
        StrictStr | None,
        Field(alias='option_set-on-error', pattern='^[A-Za-z0-9-_.]+$'),
    ] = None
    option_set_process_time: Annotated[
        StrictStr | None,
        Field(alias='option_set-process-time', pattern='^[A-Za-z0-9-_.]+$'),
    ] = None
    option_set_total_time: Annotated[
        StrictStr | None,
        Field(alias='option_set-total-time', pattern='^[A-Za-z0-9-_.]+$'),
    ] = None
    option_var_prefix: Annotated[
        StrictStr | None, Field(alias='option_var-prefix', pattern='^[A-Za-z0-9-_.]+$')
    ] = None
    pipelining: Literal['enabled', 'disabled'] | None = None
    processing_timeout: StrictInt | None = None
    register_var_names: Annotated[
        StrictStr | None, Field(alias='register-var-names')
    ] = None
    send_frag_payload: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='send-frag-payload')
    ] = None
    use_backend: Annotated[StrictStr | None, Field(alias='use-backend')] = None
