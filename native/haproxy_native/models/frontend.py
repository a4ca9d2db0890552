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
    http_error_rules,
    http_request_rules,
    http_response_rules,
    log_targets,
    quic_initial_rules,
    ssl_front_uses,
    tcp_request_rules,
)
from .frontend_base import FrontendBase


class Frontend(FrontendBase):
    """A frontend section, with its children where the whole section is asked for (HAProxy Configuration Manual, section 4)."""

    acl_list: acls.Acls | None = None
    backend_switching_rule_list: (
        backend_switching_rules.BackendSwitchingRules | None
    ) = None
    binds: dict[str, bind.Bind] | None = None
    """Binds by name."""
    capture_list: captures.Captures | None = None
    filter_list: filters.Filters | None = None
    filter_sequence_list: filter_sequences.FilterSequences | None = None
    force_be_switch_list: force_be_switches.ForceBeSwitches | None = None
    http_after_response_rule_list: (
        http_after_response_rules.HttpAfterResponseRules | None
    ) = None
    http_error_rule_list: http_error_rules.HttpErrorRules | None = None
    http_request_rule_list: http_request_rules.HttpRequestRules | None = None
    http_response_rule_list: http_response_rules.HttpResponseRules | None = None
    log_target_list: log_targets.LogTargets | None = None
    quic_initial_rule_list: quic_initial_rules.QuicInitialRules | None = None
    ssl_front_use_list: ssl_front_uses.SslFrontUses | None = None
    tcp_request_rule_list: tcp_request_rules.TcpRequestRules | None = None
