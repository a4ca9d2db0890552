# Generated from openapi/ by `make generate`; do not edit.

from . import (
    acls,
    http_after_response_rules,
    http_checks,
    http_error_rules,
    http_request_rules,
    http_response_rules,
    log_targets,
    quic_initial_rules,
    tcp_checks,
    tcp_request_rules,
    tcp_response_rules,
)
from .defaults_base import DefaultsBase


class Defaults(DefaultsBase):
    """A defaults section, with its children where the whole section is asked for (HAProxy Configuration Manual, section 4)."""

    acl_list: acls.Acls | None = None
    http_after_response_rule_list: (
        http_after_response_rules.HttpAfterResponseRules | None
    ) = None
    http_check_list: http_checks.HttpChecks | None = None
    http_error_rule_list: http_error_rules.HttpErrorRules | None = None
    http_request_rule_list: http_request_rules.HttpRequestRules | None = None
    http_response_rule_list: http_response_rules.HttpResponseRules | None = None
    log_target_list: log_targets.LogTargets | None = None
    quic_initial_rule_list: quic_initial_rules.QuicInitialRules | None = None
    tcp_check_rule_list: tcp_checks.TcpChecks | None = None
    tcp_request_rule_list: tcp_request_rules.TcpRequestRules | None = None
    tcp_response_rule_list: tcp_response_rules.TcpResponseRules | None = None
