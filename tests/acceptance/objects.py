"""Objects of every kind that HAProxy accepts, for tests that write all of them."""

from typing import Any

# Two of each kind of child.
CHILDREN: dict[str, list[dict[str, Any]]] = {
    "servers": [{"name": "s1", "address": "127.0.0.1", "port": 1, "weight": 10}, {"name": "s2", "address": "127.0.0.1", "port": 2}],
    "server_templates": [
        {"prefix": "t", "num_or_range": "1-2", "fqdn": "127.0.0.1", "port": 3},
        {"prefix": "u", "num_or_range": "1", "fqdn": "127.0.0.1", "port": 4, "weight": 7},
    ],
    "binds": [{"name": "b1", "address": "127.0.0.1", "port": 1001}, {"name": "b2", "address": "127.0.0.1", "port": 1002, "nice": 3}],
    "acls": [
        {"acl_name": "local", "criterion": "src", "value": "127.0.0.1"},
        {"acl_name": "api", "criterion": "path_beg", "value": "/api"},
    ],
    "captures": [{"type": "request", "length": 9}, {"type": "response", "length": 12}],
    "log_targets": [{"global": True}, {"address": "127.0.0.1:514", "facility": "local0"}],
    "filters": [{"type": "compression"}, {"type": "trace", "trace_name": "web"}],
    "filter_sequences": [{"direction": "request", "filters": ["a", "b"]}, {"direction": "response", "filters": ["b"]}],
    "ssl_front_uses": [{"certificate": "site.pem"}, {"certificate": "other.pem", "alpn": "h2"}],
    "quic_initial_rules": [{"type": "accept"}, {"type": "dgram-drop", "cond": "if", "cond_test": "{ src 192.0.2.1 }"}],
    "tcp_request_rules": [{"type": "inspect-delay", "timeout": 1000}, {"type": "content", "action": "accept"}],
    "tcp_response_rules": [{"type": "inspect-delay", "timeout": 1000}, {"type": "content", "action": "accept"}],
    "http_error_rules": [{"type": "status", "status": 503}, {"type": "status", "status": 404}],
    "http_request_rules": [{"type": "deny", "deny_status": 403, "cond": "if", "cond_test": "{ path /x }"}, {"type": "allow"}],
    "http_response_rules": [{"type": "set-header", "hdr_name": "X-A", "hdr_format": "a"}, {"type": "allow"}],
    "http_after_response_rules": [{"type": "del-header", "hdr_name": "X-A"}, {"type": "allow"}],
    "http_checks": [{"type": "send-state"}, {"type": "expect", "match": "status", "pattern": "200"}],
    "tcp_checks": [{"action": "connect"}, {"action": "send", "data": "PING"}],
    "stick_rules": [{"type": "on", "pattern": "src"}, {"type": "match", "pattern": "src"}],
    "force_be_switches": [{"cond": "if", "cond_test": "{ path /x }"}, {"cond": "unless", "cond_test": "{ path /y }"}],
    "backend_switching_rules": [{"name": "other", "cond": "if", "cond_test": "{ path /x }"}, {"name": "other"}],
    "server_switching_rules": [
        {"target_server": "s1", "cond": "if", "cond_test": "{ path /x }"},
        {"target_server": "s2", "cond": "if", "cond_test": "{ path /y }"},
    ],
    "dgram_binds": [{"name": "d1", "address": "127.0.0.1", "port": 1003}, {"name": "d2", "address": "127.0.0.1", "port": 1004}],
    "crt_loads": [{"certificate": "site.pem"}, {"certificate": "other.pem", "alias": "other"}],
    "nameservers": [{"name": "n1", "address": "127.0.0.1", "port": 53}, {"name": "n2", "address": "127.0.0.1", "port": 54}],
    "peer_entries": [{"name": "p1", "address": "127.0.0.1", "port": 1005}, {"name": "p2", "address": "127.0.0.1", "port": 1006}],
    "mailer_entries": [{"name": "m1", "address": "127.0.0.1", "port": 25}, {"name": "m2", "address": "127.0.0.1", "port": 26}],
    "users": [
        {"username": "u1", "password": "x", "secure_password": False},
        {"username": "u2", "password": "y", "secure_password": False},
    ],
    "groups": [{"name": "g1"}, {"name": "g2", "users": "one"}],
    "tables": [{"name": "t1", "type": "ip", "size": "100k"}, {"name": "t2", "type": "ip", "size": "200k", "expire": "1m"}],
}

# A section of each kind, in addition to a section of this kind in the configuration.
SECTIONS: dict[str, dict[str, Any]] = {
    "defaults": {"name": "two", "mode": "http"},
    "frontends": {"name": "two", "from": "base", "mode": "http", "default_backend": "app"},
    "backends": {"name": "two", "from": "base", "mode": "http"},
    "listens": {"name": "two", "from": "base", "mode": "http"},
    "acme": {"name": "two", "directory": "https://127.0.0.1/directory"},
    "caches": {"name": "two", "total_max_size": 4},
    "crt_stores": {"name": "two"},
    "fcgi_apps": {"name": "two", "docroot": "/srv"},
    "healthchecks": {"name": "two", "type": "httpchk"},
    "http_errors_sections": {"name": "two", "error_files": [{"code": 503, "file": "/dev/null"}]},
    "log_forwards": {"name": "two"},
    "log_profiles": {"name": "two"},
    "mailers_section": {"name": "two"},
    "peers": {"name": "two"},
    "resolvers": {"name": "two"},
    "rings": {"name": "two", "size": 32768},
    "userlists": {"name": "two"},
    "sites": {
        "name": "two",
        "service": {"mode": "http", "listeners": [{"name": "two", "address": "127.0.0.1", "port": 1007}]},
        "farms": [{"name": "farm", "mode": "http", "use_as": "default", "servers": [{"name": "s1", "address": "127.0.0.1", "port": 1}]}],
    },
    "traces": {},
}

SPOE_FILE = b"[one]\nspoe-agent a\n  messages m\n\nspoe-message m\n  args src\n"
SPOE_OBJECTS: dict[str, dict[str, Any]] = {
    "Agent": {"name": "a", "messages": "m", "groups": "g", "use-backend": "agents", "processing_timeout": 10},
    "Group": {"name": "g", "messages": "m"},
    "Message": {"name": "m", "args": "src", "event": {"name": "on-client-session"}},
}
