# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class PerformanceOptions(Model):
    """Performance tuning (HAProxy Configuration Manual, section 3.2)."""

    busy_polling: StrictBool | None = None
    """Whether threads never sleep while there is traffic."""
    fd_hard_limit: StrictInt | None = None
    """File descriptors at most, whatever the system allows."""
    max_spread_checks: Annotated[StrictInt | None, Field(ge=0)] = None
    """Time over which the checks of a start are spread at most. In milliseconds."""
    maxcompcpuusage: StrictInt | None = None
    """CPU usage in percent above which nothing is compressed."""
    maxcomprate: StrictInt | None = None
    """Compressed input in KiB a second."""
    maxconn: StrictInt | None = None
    """Connections at a time."""
    maxconnrate: StrictInt | None = None
    """Connections a second."""
    maxpipes: StrictInt | None = None
    """Pipes kept for splicing."""
    maxsessrate: StrictInt | None = None
    """Sessions a second."""
    maxzlibmem: StrictInt | None = None
    """Memory for compression in MiB."""
    no_memory_trimming: StrictBool | None = None
    """Whether free memory stays with the process after a reload."""
    noepoll: StrictBool | None = None
    """Whether epoll is not used."""
    noevports: StrictBool | None = None
    """Whether event ports are not used."""
    nogetaddrinfo: StrictBool | None = None
    """Whether getaddrinfo is not used."""
    nokqueue: StrictBool | None = None
    """Whether kqueue is not used."""
    noktls: StrictBool | None = None
    """Whether kernel TLS is not used."""
    nopoll: StrictBool | None = None
    """Whether poll is not used."""
    noreuseport: StrictBool | None = None
    """Whether SO_REUSEPORT is not used."""
    nosplice: StrictBool | None = None
    """Whether data is not spliced in the kernel."""
    profiling_memory: Literal['enabled', 'disabled'] | None = None
    """Whether memory use is profiled."""
    profiling_tasks: Literal['auto', 'enabled', 'disabled'] | None = None
    """Whether tasks are profiled, or only when they are late."""
    server_state_base: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Directory of the state files of servers."""
    server_state_file: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """File with the states of all servers."""
    spread_checks: StrictInt | None = None
    """Percent by which intervals of checks vary."""
    thread_hard_limit: StrictInt | None = None
    """Threads at most, whatever nbthread says."""
