"""Generate operations from the rows of the table."""

import pytest

from openapi import bundle, operations

BASE = operations.BASE
PATHS = operations.expand(bundle.resources(), everything=True)


@pytest.mark.parametrize(
    ("path", "method", "operation_id", "summary"),
    [
        ("/backends", "get", "getBackends", "List the backends"),
        ("/backends", "post", "createBackend", "Create a backend"),
        ("/backends/{name}", "put", "replaceBackend", "Replace one backend"),
        ("/backends/{parent_name}/servers", "post", "createServerBackend", "Add a server to a backend"),
        ("/backends/{parent_name}/servers/{name}", "put", "replaceServerBackend", "Replace one server of a backend"),
        ("/rings/{parent_name}/servers/{name}", "delete", "deleteServerRing", "Delete one server of a ring"),
        ("/backends/{parent_name}/server_templates/{prefix}", "get", "getServerTemplate", "Show one server template of a backend"),
        (
            "/frontends/{parent_name}/http_request_rules",
            "get",
            "getAllHTTPRequestRuleFrontend",
            "List the HTTP request rules of a frontend",
        ),
        ("/frontends/{parent_name}/acls", "put", "replaceAllAclFrontend", "Replace all ACLs of a frontend"),
        ("/frontends/{parent_name}/acls/{index}", "post", "createAclFrontend", "Add an ACL to a frontend"),
        ("/frontends/{parent_name}/backend_switching_rules", "put", "replaceBackendSwitchingRules", None),
        ("/frontends/{parent_name}/ssl_front_uses", "post", "createSSLFrontUse", "Add a frontend certificate to a frontend"),
        ("/global", "put", "replaceGlobal", "Replace the global section"),
        ("/global/log_targets/{index}", "get", "getLogTargetGlobal", "Show one log target of the global section"),
        ("/defaults", "post", "addDefaultsSection", "Create a defaults section"),
        ("/defaults", "put", "createDefaultsSection", None),
        ("/peer_section", "post", "createPeer", "Create a peers section"),
        ("/peers/{parent_name}/tables/{name}", "get", "getTable", "Show one stick table of a peers section"),
        ("/peer_entries", "get", "getPeerEntries", "List the peers of a peers section"),
        ("/users/{username}", "put", "replaceUser", "Replace one user of a userlist"),
        ("/crt_stores/{crt_store}/crt_loads/{certificate}", "get", "getCrtLoad", None),
        ("/traces", "post", "createTraces", "Create the traces section"),
    ],
)
def test_expanded(path: str, method: str, operation_id: str, summary: str | None):
    operation = PATHS[BASE + path][method]
    assert operation["operationId"] == operation_id
    assert summary in (None, operation["summary"])


@pytest.mark.parametrize(
    ("path", "method"),
    [
        ("/peer_section/{name}", "put"),
        ("/userlists/{name}", "put"),
        ("/global", "post"),
        ("/frontends/{parent_name}/ssl_front_uses", "put"),
    ],
)
def test_verbs_that_the_table_leaves_out(path: str, method: str):
    assert method not in PATHS[BASE + path]


def test_a_parent_in_the_query_is_a_required_parameter():
    parameters = PATHS[f"{BASE}/nameservers/{{name}}"]["get"]["parameters"]
    assert [(each["in"], each["name"]) for each in parameters if each.get("required")] == [("path", "name"), ("query", "resolver")]


@pytest.mark.parametrize(
    ("path", "method", "parameter", "there"),
    [
        ("/backends", "get", "full_section", True),
        ("/backends/{name}", "delete", "full_section", False),
        ("/caches", "get", "full_section", False),
        ("/defaults/{name}", "delete", "full_section", True),
        ("/backends", "get", "version", False),
        ("/backends", "post", "version", True),
        ("/backends/{parent_name}/acls", "get", "acl_name", True),
        ("/backends/{parent_name}/acls", "put", "acl_name", False),
    ],
)
def test_parameters(path: str, method: str, parameter: str, there: bool):
    references = [each.get("$ref") for each in PATHS[BASE + path][method]["parameters"]]
    assert (f"#/components/parameters/{parameter}" in references) is there


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/backends/{parent_name}/servers/{name}", ["name", "parent_name"]),
        ("/frontends/{parent_name}/acls/{index}", ["index", "parent_name"]),
        ("/nameservers/{name}", ["name", "resolver"]),
        ("/crt_stores/{crt_store}/crt_loads/{certificate}", ["crt_store", "certificate"]),
        ("/global/log_targets/{index}", ["index"]),
    ],
)
def test_the_order_of_what_addresses_an_object(path: str, names: list[str]):
    """That of positional arguments, whatever the path says."""
    parameters = PATHS[BASE + path]["get"]["parameters"]
    assert [each.get("name") or each["$ref"].rpartition("/")[2] for each in parameters] == [*names, "transaction_id"]


@pytest.mark.parametrize(("noun", "many"), [("peer entry", "peer entries"), ("backend switch", "backend switches"), ("ACL", "ACLs")])
def test_plural(noun: str, many: str):
    assert operations.plural(noun) == many


@pytest.mark.parametrize(
    ("noun", "text"), [("ACL", "an ACL"), ("HTTP check", "an HTTP check"), ("userlist", "a userlist"), ("bind", "a bind")]
)
def test_article(noun: str, text: str):
    assert operations.article(noun) == text
