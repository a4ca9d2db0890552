"""The types of sections are made of the table of resources."""

from openapi.objects import stub

DOCUMENT = {
    "x-resources": {
        "global": {"kind": "singleton", "schema": "global"},
        "backends": {"kind": "section", "schema": "backend"},
        "agents": {"kind": "section", "schema": "agent", "file": "spoe"},
        "servers": {"kind": "named", "schema": "server", "parents": ["backends"]},
        "http_rules": {"kind": "indexed", "schema": "http_rule", "parents": ["backends"]},
    },
    "components": {"schemas": {"backend": {}, "backend_base": {}, "global": {}, "server": {}, "http_rule": {}}},
}


def test_collections_have_the_types_of_their_objects() -> None:
    text = stub(DOCUMENT)
    assert "from haproxy_native.models.backend_base import BackendBase as BackendBaseModel\n" in text
    assert "class Backend(Bound, BackendBaseModel):\n    servers: Named[Server]\n    http_rules: Rows[HttpRule]\n" in text
    assert text.endswith("class Sections:\n    global_: Global\n    backends: Named[Backend]\n")
