# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr

from . import log_targets


class SpoeAgent(Model):
    """What is offloaded to which backend, one spoe-agent section of a SPOE file (SPOE.txt, section 2.2)."""

    async_: Annotated[Literal['enabled', 'disabled'] | None, Field(alias='async')] = (
        None
    )
    """Whether answers may come on another connection; ignored since HAProxy 3.1."""
    continue_on_error: Annotated[
        Literal['enabled'] | None, Field(alias='continue-on-error')
    ] = None
    """Whether later events are processed after an error."""
    dontlog_normal: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='dontlog-normal')
    ] = None
    """Whether successful processing is not logged."""
    engine_name: Annotated[StrictStr | None, Field(alias='engine-name')] = None
    """Accepted and ignored; the engine is the scope."""
    force_set_var: Annotated[
        Literal['enabled'] | None, Field(alias='force-set-var')
    ] = None
    """Whether the agent may create any variable."""
    groups: StrictStr | None = None
    """Names of groups that rules may send, with blanks."""
    hello_timeout: StrictInt | None = None
    """Time an agent may take to greet, in ms; ignored since HAProxy 3.1. In milliseconds."""
    idle_timeout: StrictInt | None = None
    """Time after which an idle connection is closed, in ms; ignored since HAProxy 3.1. In milliseconds."""
    log: log_targets.LogTargets | None = None
    """Where processing is logged."""
    max_frame_size: Annotated[StrictInt | None, Field(alias='max-frame-size')] = None
    """Bytes of a frame at most, from 256 to tune.bufsize - 4."""
    max_waiting_frames: Annotated[
        StrictInt | None, Field(alias='max-waiting-frames')
    ] = None
    """Frames that may wait for an answer on one connection; ignored since HAProxy 3.1."""
    maxconnrate: StrictInt | None = None
    """Connections opened per second at most; ignored since HAProxy 3.1."""
    maxerrrate: StrictInt | None = None
    """Errors per second after which processing stops; ignored since HAProxy 3.1."""
    messages: StrictStr | None = None
    """Names of messages that are sent on their events, with blanks."""
    name: StrictStr
    """Name of the agent."""
    option_set_on_error: Annotated[
        StrictStr | None,
        Field(alias='option_set-on-error', pattern='^[A-Za-z0-9-_.]+$'),
    ] = None
    """Variable that tells the reason of an error."""
    option_set_process_time: Annotated[
        StrictStr | None,
        Field(alias='option_set-process-time', pattern='^[A-Za-z0-9-_.]+$'),
    ] = None
    """Variable that tells how long the last event took."""
    option_set_total_time: Annotated[
        StrictStr | None,
        Field(alias='option_set-total-time', pattern='^[A-Za-z0-9-_.]+$'),
    ] = None
    """Variable that tells how long all events of a stream took."""
    option_var_prefix: Annotated[
        StrictStr | None, Field(alias='option_var-prefix', pattern='^[A-Za-z0-9-_.]+$')
    ] = None
    """Prefix of the variables that the agent sets."""
    pipelining: Literal['enabled', 'disabled'] | None = None
    """Whether frames are sent before earlier ones are answered."""
    processing_timeout: StrictInt | None = None
    """Time that processing of one event may take, in ms. In milliseconds."""
    register_var_names: Annotated[
        StrictStr | None, Field(alias='register-var-names')
    ] = None
    """Names of variables that the agent may set, with blanks."""
    send_frag_payload: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='send-frag-payload')
    ] = None
    """Whether long payloads are sent in pieces; ignored since HAProxy 3.1."""
    use_backend: Annotated[StrictStr | None, Field(alias='use-backend')] = None
    """Backend in which the agent's servers are."""
