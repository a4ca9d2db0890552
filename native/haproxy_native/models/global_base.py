# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import cpu_affinity as cpu_affinity_1
from . import cpu_map, cpu_set_item
from . import debug_options as debug_options_1
from . import default_path as default_path_1
from . import device_atlas_options as device_atlas_options_1
from . import environment_options as environment_options_1
from . import fifty_one_degrees_options as fifty_one_degrees_options_1
from . import h1_case_adjust_item
from . import harden as harden_1
from . import http_client_options as http_client_options_1
from . import http_codes
from . import log_send_hostname as log_send_hostname_1
from . import lua_options as lua_options_1
from . import ocsp_update_options as ocsp_update_options_1
from . import performance_options as performance_options_1
from . import runtime_api, set_var_fmt_item, set_var_item
from . import ssl_options as ssl_options_1
from . import thread_group_line
from . import tune_buffer_options as tune_buffer_options_1
from . import tune_lua_options as tune_lua_options_1
from . import tune_options as tune_options_1
from . import tune_quic_options as tune_quic_options_1
from . import tune_ssl_options as tune_ssl_options_1
from . import tune_vars_options as tune_vars_options_1
from . import tune_zlib_options as tune_zlib_options_1
from . import wurfl_options as wurfl_options_1


class GlobalBase(Model):
    """Settings of the whole process (HAProxy Configuration Manual, section 3)."""

    chroot: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Directory that becomes the root of the process."""
    close_spread_time: Annotated[StrictInt | None, Field(ge=0)] = None
    """Time over which idle connections are closed on a soft stop. In milliseconds."""
    cluster_secret: StrictStr | None = None
    """Secret shared by the nodes of a cluster, from which QUIC keys and the like are made."""
    cpu_affinity: cpu_affinity_1.CpuAffinity | None = None
    """How threads are bound to the CPUs of their group."""
    cpu_maps: list[cpu_map.CpuMap] | None = None
    """CPUs on which threads run."""
    cpu_policy: Literal['none', 'efficiency', 'first-usable-node', 'group-by-2-ccx', 'group-by-2-clusters', 'group-by-3-ccx', 'group-by-3-clusters', 'group-by-4-ccx', 'group-by-4-cluster', 'group-by-ccx', 'group-by-cluster', 'performance', 'resource'] | None = (
        None
    )
    """How CPUs are chosen and threads grouped."""
    cpu_set: list[cpu_set_item.CpuSetItem] | None = None
    """CPUs that are used or left out, one step after another."""
    daemon: StrictBool | None = None
    """Whether the process goes to the background."""
    debug_options: debug_options_1.DebugOptions | None = None
    default_path: default_path_1.DefaultPath | None = None
    """What file names of the configuration are relative to."""
    description: StrictStr | None = None
    """Text shown on the statistics page."""
    device_atlas_options: device_atlas_options_1.DeviceAtlasOptions | None = None
    dns_accept_family: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Address families taken from name resolution: ipv4, ipv6, auto, with commas."""
    environment_options: environment_options_1.EnvironmentOptions | None = None
    expose_deprecated_directives: StrictBool | None = None
    """Whether deprecated directives are accepted without a warning."""
    expose_experimental_directives: StrictBool | None = None
    """Whether experimental directives are accepted."""
    external_check: StrictBool | None = None
    """Whether checks may run programs."""
    fifty_one_degrees_options: (
        fifty_one_degrees_options_1.FiftyOneDegreesOptions | None
    ) = None
    force_cfg_parser_pause: Annotated[StrictInt | None, Field(ge=0)] = None
    """Pause in the parsing of the configuration, for tests of the start. In milliseconds."""
    gid: StrictInt | None = None
    """Group number the process changes to."""
    grace: Annotated[StrictInt | None, Field(ge=0)] = None
    """Time during which the old process still accepts connections after a reload. In milliseconds."""
    group: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Group name the process changes to."""
    h1_accept_payload_with_any_method: StrictBool | None = None
    """Whether a body is accepted with GET, HEAD and DELETE over HTTP/1.0."""
    h1_case_adjust: list[h1_case_adjust_item.H1CaseAdjustItem] | None = None
    """Header names and how they are spelled towards peers that need it."""
    h1_case_adjust_file: StrictStr | None = None
    """File with a header name to spell on each line."""
    h1_do_not_close_on_insecure_transfer_encoding: StrictBool | None = None
    """Whether a request with two lengths does not end the connection."""
    h2_workaround_bogus_websocket_clients: StrictBool | None = None
    """Whether WebSocket over HTTP/2 is not announced."""
    hard_stop_after: Annotated[StrictInt | None, Field(ge=0)] = None
    """Time after which a soft stop becomes a hard one. In milliseconds."""
    harden: harden_1.Harden | None = None
    """Safeguards."""
    http_client_options: http_client_options_1.HttpClientOptions | None = None
    http_err_codes: list[http_codes.HttpCodes] | None = None
    """Statuses that count as errors of clients."""
    http_fail_codes: list[http_codes.HttpCodes] | None = None
    """Statuses that count as failures of servers."""
    insecure_fork_wanted: StrictBool | None = None
    """Whether the process may start others."""
    insecure_setuid_wanted: StrictBool | None = None
    """Whether programs it starts may gain rights."""
    limited_quic: StrictBool | None = None
    """Whether QUIC is used with a TLS library that only half supports it."""
    localpeer: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name of this node among its peers."""
    log_send_hostname: log_send_hostname_1.LogSendHostname | None = None
    """Whether logs carry a host name."""
    lua_options: lua_options_1.LuaOptions | None = None
    master_worker: Annotated[StrictBool | None, Field(alias='master-worker')] = None
    """Whether a master process runs the worker."""
    max_threads_per_group: Annotated[StrictInt | None, Field(ge=1)] = None
    """Threads in a group at most."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the section line."""
    mworker_max_reloads: Annotated[StrictInt | None, Field(ge=0)] = None
    """Reloads that an old worker may survive."""
    nbthread: StrictInt | None = None
    """Number of threads."""
    no_quic: StrictBool | None = None
    """Whether QUIC is switched off."""
    node: StrictStr | None = None
    """Name of this node on the statistics page."""
    numa_cpu_mapping: Literal['enabled', 'disabled'] | None = None
    """Whether threads stay on the CPUs of one NUMA node."""
    ocsp_update_options: ocsp_update_options_1.OcspUpdateOptions | None = None
    performance_options: performance_options_1.PerformanceOptions | None = None
    pidfile: StrictStr | None = None
    """File into which process numbers are written."""
    pp2_never_send_local: StrictBool | None = None
    """Whether checks through the PROXY protocol tell their addresses."""
    prealloc_fd: StrictBool | None = None
    """Whether all file descriptors are allocated at the start."""
    runtime_apis: list[runtime_api.RuntimeApi] | None = None
    """Sockets of the Runtime API, one stats socket line each."""
    set_dumpable: StrictBool | None = None
    """Whether a crash leaves a core dump."""
    set_var: list[set_var_item.SetVarItem] | None = None
    """Variables of the process set at the start."""
    set_var_fmt: list[set_var_fmt_item.SetVarFmtItem] | None = None
    """Variables of the process set at the start by a format."""
    setcap: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Linux capabilities that are kept, with commas."""
    shm_stats_file: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """File of shared memory that keeps counters over a reload."""
    shm_stats_file_max_objects: Annotated[StrictInt | None, Field(ge=0)] = None
    """Objects that file has room for, per thread group."""
    ssl_options: ssl_options_1.SslOptions | None = None
    stats_calculate_max_counters: Literal['enabled', 'disabled'] | None = None
    """Whether maxima are kept beside counters."""
    stats_file: StrictStr | None = None
    """File from which counters are read at the start."""
    stats_maxconn: StrictInt | None = None
    """Connections to the Runtime API at a time."""
    stats_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    """Time after which an idle connection to the Runtime API ends. In milliseconds."""
    strict_limits: StrictBool | None = None
    """Whether the start fails where limits cannot be raised."""
    thread_group_lines: list[thread_group_line.ThreadGroupLine] | None = None
    """Threads of each group."""
    thread_groups: StrictInt | None = None
    """Number of thread groups."""
    tune_buffer_options: tune_buffer_options_1.TuneBufferOptions | None = None
    tune_lua_options: tune_lua_options_1.TuneLuaOptions | None = None
    tune_options: tune_options_1.TuneOptions | None = None
    tune_quic_options: tune_quic_options_1.TuneQuicOptions | None = None
    tune_ssl_options: tune_ssl_options_1.TuneSslOptions | None = None
    tune_vars_options: tune_vars_options_1.TuneVarsOptions | None = None
    tune_zlib_options: tune_zlib_options_1.TuneZlibOptions | None = None
    uid: StrictInt | None = None
    """User number the process changes to."""
    ulimit_n: StrictInt | None = None
    """File descriptors at most."""
    user: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """User name the process changes to."""
    warn_blocked_traffic_after: Annotated[StrictInt | None, Field(ge=1)] = None
    """Time without progress after which a warning tells which task holds it up. In milliseconds."""
    wurfl_options: wurfl_options_1.WurflOptions | None = None
