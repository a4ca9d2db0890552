"""Check that the models have the members of the document, and that each can be loaded alone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from haproxy_native.models import model

DOCUMENT = json.loads((Path(__file__).parents[2] / "openapi/generated/dataplane.json").read_text())
SCHEMAS = DOCUMENT["components"]["schemas"]
MODELS = Path(__file__).parents[2] / "native/haproxy_native/models"


def properties(schema: dict) -> dict:
    found: dict = {}
    for part in schema.get("allOf", []):
        found |= properties(SCHEMAS[part["$ref"].rsplit("/", 1)[1]] if "$ref" in part else part)
    return found | schema.get("properties", {})


def test_every_schema_has_a_model_with_its_members():
    for name, schema in SCHEMAS.items():
        fields = model(name).model_fields
        if "root" not in fields:
            assert {field.alias or key for key, field in fields.items()} == set(properties(schema)), name


@pytest.mark.parametrize("name", ["nothing", "__init__", ""])
def test_no_such_schema(name: str):
    with pytest.raises(KeyError):
        model(name)


SERVER = {"name": "web1", "address": "10.0.0.1"}


@pytest.mark.parametrize(
    ("schema", "body", "place", "kind"),
    [
        ("server", SERVER | {"weight": "5"}, ("weight",), "int_type"),
        ("server", SERVER | {"weight": 5.0}, ("weight",), "int_type"),
        ("server", SERVER | {"weight": True}, ("weight",), "int_type"),
        ("server", SERVER | {"port": 0}, ("port",), "greater_than_equal"),
        ("server", SERVER | {"port": 65536}, ("port",), "less_than_equal"),
        ("server", SERVER | {"check": "on"}, ("check",), "literal_error"),
        ("server", {"name": "web1"}, ("address",), "missing"),
        ("server", SERVER | {"name": "web 1"}, ("name",), "string_pattern_mismatch"),
        ("server", SERVER | {"name": "web1\n"}, ("name",), "string_pattern_mismatch"),
        ("server", SERVER | {"name": 1}, ("name",), "string_type"),
        ("backend", {"name": "a/b"}, ("name",), "string_pattern_mismatch"),
        ("bind", {"name": "b", "tcp_ss": True}, ("tcp_ss",), "int_type"),
        ("bind", {"name": "b", "tcp_ss": 1.0}, ("tcp_ss",), "int_type"),
        ("bind", {"name": "b", "tcp_ss": 4}, ("tcp_ss",), "literal_error"),
        ("bind", {"name": "b", "ssl": "true"}, ("ssl",), "bool_type"),
        ("bind", {"name": "b", "metadata": "x"}, ("metadata",), "dict_type"),
        ("acls", [{"acl_name": "a", "criterion": "src"}, {"criterion": "src"}], (1, "acl_name"), "missing"),
        ("acls", {}, (), "list_type"),
        ("backend", {"name": "a", "servers": {"s": {"name": "s"}}}, ("servers", "s", "address"), "missing"),
    ],
)
def test_refused(schema: str, body: object, place: tuple, kind: str):
    with pytest.raises(ValidationError) as refusal:
        model(schema).model_validate(body)
    assert [(error["loc"], error["type"]) for error in refusal.value.errors()] == [(place, kind)]


def test_only_the_members_that_are_known_and_given_come_out():
    given = {"name": "b", "port-range-end": 90, "port_range_end": 91, "unknown": 1, "verify": None, "tcp_ss": 1, "metadata": {"a": [1]}}
    dumped = model("bind").model_validate(given).model_dump(exclude_none=True, by_alias=True)
    assert dumped == {"name": "b", "port-range-end": 90, "tcp_ss": 1, "metadata": {"a": [1]}}


def test_one_model_does_not_load_the_others():
    loaded = "sum(m.startswith('haproxy_native.models.') for m in sys.modules)"
    code = f"import sys; from haproxy_native.models import model; model('acl'); print({loaded})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    assert run.stdout == "1\n"


def test_the_package_itself_has_no_name_that_would_hide_a_schema():
    """`from . import cache` in a module takes the package's own `cache` when nobody loaded that module before."""
    code = "import haproxy_native.models; print(*vars(haproxy_native.models))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    assert {path.stem for path in MODELS.glob("*.py")} & set(run.stdout.split()) == set()
