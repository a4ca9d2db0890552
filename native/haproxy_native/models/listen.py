# Generated from openapi/ by `make generate`; do not edit.

from . import (
    acls,
    backend_switching_rules,
    bind,
    captures,
    filter_sequences,
    filters,
    force_be_switches,
    http_after_response_rules,
    http_checks,
    http_error_rules,
    http_request_rules,
    http_response_rules,
    log_targets,
    quic_initial_rules,
    server,
    server_switching_rules,
    server_template,
    ssl_front_uses,
    stick_rules,
    tcp_checks,
    tcp_request_rules,
    tcp_response_rules,
)
from .listen_base import ListenBase


class Listen(ListenBase):
    """A listen section with everything in it. HAProxy Configuration Manual, section 4.1."""

    acl_list: acls.Acls | None = None
    binds: dict[str, bind.Bind] | None = None
    """Addresses it listens on."""
    backend_switching_rule_list: (
        backend_switching_rules.BackendSwitchingRules | None
    ) = None
    capture_list: captures.Captures | None = None
    filter_list: filters.Filters | None = None
    filter_sequence_list: filter_sequences.FilterSequences | None = None
    force_be_switch_list: force_be_switches.ForceBeSwitches | None = None
    http_after_response_rule_list: (
        http_after_response_rules.HttpAfterResponseRules | None
    ) = None
    http_check_list: http_checks.HttpChecks | None = None
    http_error_rule_list: http_error_rules.HttpErrorRules | None = None
    http_request_rule_list: http_request_rules.HttpRequestRules | None = None
    http_response_rule_list: http_response_rules.HttpResponseRules | None = None
    log_target_list: log_targets.LogTargets | None = None
    quic_initial_rule_list: quic_initial_rules.QuicInitialRules | None = None
    server_switching_rule_list: server_switching_rules.ServerSwitchingRules | None = (
        None
    )
    server_templates: dict[str, server_template.ServerTemplate] | None = None
    """Families of servers found at run time."""
    servers: dict[str, server.Server] | None = None
    """Servers by name."""
    ssl_front_use_list: ssl_front_uses.SslFrontUses | None = None
    stick_rule_list: stick_rules.StickRules | None = None
    tcp_check_rule_list: tcp_checks.TcpChecks | None = None
    tcp_request_rule_list: tcp_request_rules.TcpRequestRules | None = None
    tcp_response_rule_list: tcp_response_rules.TcpResponseRules | None = None
