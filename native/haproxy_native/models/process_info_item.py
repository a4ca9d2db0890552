# Generated from openapi/ by `make generate`; do not edit.

from datetime import date

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr


class ProcessInfoItem(Model):
    active_peers: StrictInt | None = None
    busy_polling: StrictInt | None = None
    bytes_out_rate: StrictInt | None = None
    compress_bps_in: StrictInt | None = None
    compress_bps_out: StrictInt | None = None
    compress_bps_rate_lim: StrictInt | None = None
    conn_rate: StrictInt | None = None
    conn_rate_limit: StrictInt | None = None
    connected_peers: StrictInt | None = None
    cum_conns: StrictInt | None = None
    cum_req: StrictInt | None = None
    cum_ssl_conns: StrictInt | None = None
    curr_conns: StrictInt | None = None
    curr_ssl_conns: StrictInt | None = None
    dropped_logs: StrictInt | None = None
    failed_resolutions: StrictInt | None = None
    hard_max_conn: StrictInt | None = None
    idle_pct: StrictInt | None = None
    jobs: StrictInt | None = None
    listeners: StrictInt | None = None
    max_conn: StrictInt | None = None
    max_conn_rate: StrictInt | None = None
    max_pipes: StrictInt | None = None
    max_sess_rate: StrictInt | None = None
    max_sock: StrictInt | None = None
    max_ssl_conns: StrictInt | None = None
    max_ssl_rate: StrictInt | None = None
    max_zlib_mem_usage: StrictInt | None = None
    mem_max_mb: StrictInt | None = None
    nbthread: StrictInt | None = None
    node: StrictStr | None = None
    pid: StrictInt | None = None
    pipes_free: StrictInt | None = None
    pipes_used: StrictInt | None = None
    pool_alloc_mb: StrictInt | None = None
    pool_failed: StrictInt | None = None
    pool_used_mb: StrictInt | None = None
    process_num: StrictInt | None = None
    processes: StrictInt | None = None
    release_date: date | None = None
    run_queue: StrictInt | None = None
    sess_rate: StrictInt | None = None
    sess_rate_limit: StrictInt | None = None
    ssl_backend_key_rate: StrictInt | None = None
    ssl_backend_max_key_rate: StrictInt | None = None
    ssl_cache_lookups: StrictInt | None = None
    ssl_cache_misses: StrictInt | None = None
    ssl_frontend_key_rate: StrictInt | None = None
    ssl_frontend_max_key_rate: StrictInt | None = None
    ssl_frontend_session_reuse: StrictInt | None = None
    ssl_rate: StrictInt | None = None
    ssl_rate_limit: StrictInt | None = None
    stopping: StrictInt | None = None
    tasks: StrictInt | None = None
    total_bytes_out: StrictInt | None = None
    ulimit_n: StrictInt | None = None
    unstoppable: StrictInt | None = None
    uptime: StrictInt | None = None
    version: StrictStr | None = None
    zlib_mem_usage: StrictInt | None = None
