# Generated from openapi/ by `make generate`; do not edit.

from . import (
    acls,
    filter_sequences,
    filters,
    http_after_response_rules,
    http_checks,
    http_error_rules,
    http_request_rules,
    http_response_rules,
    log_targets,
    server,
    server_switching_rules,
    server_template,
    stick_rules,
    tcp_checks,
    tcp_request_rules,
    tcp_response_rules,
)
from .backend_base import BackendBase


class Backend(BackendBase):
    """A backend section, with its children where the whole section is asked for (HAProxy Configuration Manual, section 4)."""

    acl_list: acls.Acls | None = None
    filter_list: filters.Filters | None = None
    filter_sequence_list: filter_sequences.FilterSequences | None = None
    http_after_response_rule_list: (
        http_after_response_rules.HttpAfterResponseRules | None
    ) = None
    http_check_list: http_checks.HttpChecks | None = None
    http_error_rule_list: http_error_rules.HttpErrorRules | None = None
    http_request_rule_list: http_request_rules.HttpRequestRules | None = None
    http_response_rule_list: http_response_rules.HttpResponseRules | None = None
    log_target_list: log_targets.LogTargets | None = None
    server_switching_rule_list: server_switching_rules.ServerSwitchingRules | None = (
        None
    )
    server_templates: dict[str, server_template.ServerTemplate] | None = None
    """Server templates by prefix."""
    servers: dict[str, server.Server] | None = None
    """Servers by name."""
    stick_rule_list: stick_rules.StickRules | None = None
    tcp_check_rule_list: tcp_checks.TcpChecks | None = None
    tcp_request_rule_list: tcp_request_rules.TcpRequestRules | None = None
    tcp_response_rule_list: tcp_response_rules.TcpResponseRules | None = None
