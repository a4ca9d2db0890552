# Generated from openapi/ by `make generate`; do not edit.

from datetime import date

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr


class ProcessInfoItem(Model):
    """What HAProxy tells of itself; what its version does not know is absent (HAProxy Management Guide, 9.3 show info)."""

    active_peers: StrictInt | None = None
    """Peers that are connected and in use."""
    busy_polling: StrictInt | None = None
    """Whether polling is busy, 0 or 1."""
    bytes_out_rate: StrictInt | None = None
    """Bytes sent in the last second."""
    compress_bps_in: StrictInt | None = None
    """Bytes a second given to compression."""
    compress_bps_out: StrictInt | None = None
    """Bytes a second that compression made."""
    compress_bps_rate_lim: StrictInt | None = None
    """Limit of bytes a second given to compression."""
    conn_rate: StrictInt | None = None
    """Connections in the last second."""
    conn_rate_limit: StrictInt | None = None
    """Limit of connections a second; 0 is none."""
    connected_peers: StrictInt | None = None
    """Peers that are connected."""
    cum_conns: StrictInt | None = None
    """Connections since the start."""
    cum_req: StrictInt | None = None
    """Requests since the start."""
    cum_ssl_conns: StrictInt | None = None
    """TLS connections since the start."""
    curr_conns: StrictInt | None = None
    """Connections now."""
    curr_ssl_conns: StrictInt | None = None
    """TLS connections now."""
    dropped_logs: StrictInt | None = None
    """Log messages that could not be sent."""
    failed_resolutions: StrictInt | None = None
    """Names that could not be resolved."""
    hard_max_conn: StrictInt | None = None
    """Highest value that the limit of connections can be set to."""
    idle_pct: StrictInt | None = None
    """Percentage of the last second spent waiting."""
    jobs: StrictInt | None = None
    """Listeners, connections and other jobs now."""
    listeners: StrictInt | None = None
    """Listening sockets."""
    max_conn: StrictInt | None = None
    """Limit of connections."""
    max_conn_rate: StrictInt | None = None
    """Most connections within a second since the start."""
    max_pipes: StrictInt | None = None
    """Limit of pipes for splicing; 0 is none."""
    max_sess_rate: StrictInt | None = None
    """Most sessions within a second since the start."""
    max_sock: StrictInt | None = None
    """Limit of sockets."""
    max_ssl_conns: StrictInt | None = None
    """Limit of TLS connections; 0 is none."""
    max_ssl_rate: StrictInt | None = None
    """Most TLS connections within a second since the start."""
    max_zlib_mem_usage: StrictInt | None = None
    """Limit of memory for zlib; 0 is none."""
    mem_max_mb: StrictInt | None = None
    """Limit of memory in MiB; 0 is none."""
    nbthread: StrictInt | None = None
    """Number of threads."""
    node: StrictStr | None = None
    """Name of the node, from the global section."""
    pid: StrictInt | None = None
    """Process id of the worker."""
    pipes_free: StrictInt | None = None
    """Pipes that are open and unused."""
    pipes_used: StrictInt | None = None
    """Pipes in use."""
    pool_alloc_mb: StrictInt | None = None
    """Memory allocated in pools in MiB."""
    pool_failed: StrictInt | None = None
    """Allocations that failed."""
    pool_used_mb: StrictInt | None = None
    """Memory of pools that is in use in MiB."""
    process_num: StrictInt | None = None
    """Number of the process that answers."""
    processes: StrictInt | None = None
    """Number of processes."""
    release_date: date | None = None
    """Date of the release."""
    run_queue: StrictInt | None = None
    """Tasks that wait to run."""
    sess_rate: StrictInt | None = None
    """Sessions in the last second."""
    sess_rate_limit: StrictInt | None = None
    """Limit of sessions a second; 0 is none."""
    ssl_backend_key_rate: StrictInt | None = None
    """TLS keys computed towards servers in the last second."""
    ssl_backend_max_key_rate: StrictInt | None = None
    """Most TLS keys computed towards servers within a second since the start."""
    ssl_cache_lookups: StrictInt | None = None
    """Look-ups of TLS sessions."""
    ssl_cache_misses: StrictInt | None = None
    """Look-ups of TLS sessions that found none."""
    ssl_frontend_key_rate: StrictInt | None = None
    """TLS keys computed towards clients in the last second."""
    ssl_frontend_max_key_rate: StrictInt | None = None
    """Most TLS keys computed towards clients within a second since the start."""
    ssl_frontend_session_reuse: StrictInt | None = None
    """Percentage of TLS connections from clients that resume a session."""
    ssl_rate: StrictInt | None = None
    """TLS connections in the last second."""
    ssl_rate_limit: StrictInt | None = None
    """Limit of TLS connections a second; 0 is none."""
    stopping: StrictInt | None = None
    """Whether the process is about to end, 0 or 1."""
    tasks: StrictInt | None = None
    """Number of tasks."""
    total_bytes_out: StrictInt | None = None
    """Bytes sent since the start."""
    ulimit_n: StrictInt | None = None
    """Limit of open files."""
    unstoppable: StrictInt | None = None
    """Jobs that a graceful stop waits for."""
    uptime: StrictInt | None = None
    """Seconds since the start."""
    version: StrictStr | None = None
    """Version of HAProxy."""
    zlib_mem_usage: StrictInt | None = None
    """Memory that zlib uses in bytes."""
