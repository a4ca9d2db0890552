"""Generate the types of sections from the table of resources."""

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
    assert "class Backend(Bound, BackendBaseModel):\n" + attribute("servers", "Named[Server]") in text
    assert attribute("servers", "Named[Server]") + attribute("http_rules", "Rows[HttpRule]") in text
    assert text.endswith("class Sections:\n" + attribute("global_", "Global") + attribute("backends", "Named[Backend]"))


def attribute(name: str, type_: str) -> str:
    return f"    @property\n    def {name}(self) -> {type_}: ...\n"
