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
    chroot: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    close_spread_time: Annotated[StrictInt | None, Field(ge=0)] = None
    cluster_secret: StrictStr | None = None
    cpu_affinity: cpu_affinity_1.CpuAffinity | None = None
    cpu_maps: list[cpu_map.CpuMap] | None = None
    cpu_policy: Literal['none', 'efficiency', 'first-usable-node', 'group-by-2-ccx', 'group-by-2-clusters', 'group-by-3-ccx', 'group-by-3-clusters', 'group-by-4-ccx', 'group-by-4-cluster', 'group-by-ccx', 'group-by-cluster', 'performance', 'resource'] | None = (
        None
    )
    cpu_set: list[cpu_set_item.CpuSetItem] | None = None
    daemon: StrictBool | None = None
    debug_options: debug_options_1.DebugOptions | None = None
    default_path: default_path_1.DefaultPath | None = None
    description: StrictStr | None = None
    device_atlas_options: device_atlas_options_1.DeviceAtlasOptions | None = None
    dns_accept_family: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    environment_options: environment_options_1.EnvironmentOptions | None = None
    expose_deprecated_directives: StrictBool | None = None
    expose_experimental_directives: StrictBool | None = None
    external_check: StrictBool | None = None
    fifty_one_degrees_options: (
        fifty_one_degrees_options_1.FiftyOneDegreesOptions | None
    ) = None
    force_cfg_parser_pause: Annotated[StrictInt | None, Field(ge=0)] = None
    gid: StrictInt | None = None
    grace: Annotated[StrictInt | None, Field(ge=0)] = None
    group: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    h1_accept_payload_with_any_method: StrictBool | None = None
    h1_case_adjust: list[h1_case_adjust_item.H1CaseAdjustItem] | None = None
    h1_case_adjust_file: StrictStr | None = None
    h1_do_not_close_on_insecure_transfer_encoding: StrictBool | None = None
    h2_workaround_bogus_websocket_clients: StrictBool | None = None
    hard_stop_after: Annotated[StrictInt | None, Field(ge=0)] = None
    harden: harden_1.Harden | None = None
    http_client_options: http_client_options_1.HttpClientOptions | None = None
    http_err_codes: list[http_codes.HttpCodes] | None = None
    http_fail_codes: list[http_codes.HttpCodes] | None = None
    insecure_fork_wanted: StrictBool | None = None
    insecure_setuid_wanted: StrictBool | None = None
    limited_quic: StrictBool | None = None
    localpeer: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    log_send_hostname: log_send_hostname_1.LogSendHostname | None = None
    lua_options: lua_options_1.LuaOptions | None = None
    master_worker: Annotated[StrictBool | None, Field(alias='master-worker')] = None
    max_threads_per_group: Annotated[StrictInt | None, Field(ge=1)] = None
    metadata: dict[str, Any] | None = None
    mworker_max_reloads: Annotated[StrictInt | None, Field(ge=0)] = None
    nbthread: StrictInt | None = None
    no_quic: StrictBool | None = None
    node: StrictStr | None = None
    numa_cpu_mapping: Literal['enabled', 'disabled'] | None = None
    ocsp_update_options: ocsp_update_options_1.OcspUpdateOptions | None = None
    performance_options: performance_options_1.PerformanceOptions | None = None
    pidfile: StrictStr | None = None
    pp2_never_send_local: StrictBool | None = None
    prealloc_fd: StrictBool | None = None
    runtime_apis: list[runtime_api.RuntimeApi] | None = None
    set_dumpable: StrictBool | None = None
    set_var: list[set_var_item.SetVarItem] | None = None
    set_var_fmt: list[set_var_fmt_item.SetVarFmtItem] | None = None
    setcap: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    shm_stats_file: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    shm_stats_file_max_objects: Annotated[StrictInt | None, Field(ge=0)] = None
    ssl_options: ssl_options_1.SslOptions | None = None
    stats_calculate_max_counters: Literal['enabled', 'disabled'] | None = None
    stats_file: StrictStr | None = None
    stats_maxconn: StrictInt | None = None
    stats_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    strict_limits: StrictBool | None = None
    thread_group_lines: list[thread_group_line.ThreadGroupLine] | None = None
    thread_groups: StrictInt | None = None
    tune_buffer_options: tune_buffer_options_1.TuneBufferOptions | None = None
    tune_lua_options: tune_lua_options_1.TuneLuaOptions | None = None
    tune_options: tune_options_1.TuneOptions | None = None
    tune_quic_options: tune_quic_options_1.TuneQuicOptions | None = None
    tune_ssl_options: tune_ssl_options_1.TuneSslOptions | None = None
    tune_vars_options: tune_vars_options_1.TuneVarsOptions | None = None
    tune_zlib_options: tune_zlib_options_1.TuneZlibOptions | None = None
    uid: StrictInt | None = None
    ulimit_n: StrictInt | None = None
    user: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    warn_blocked_traffic_after: Annotated[StrictInt | None, Field(ge=1)] = None
    wurfl_options: wurfl_options_1.WurflOptions | None = None
