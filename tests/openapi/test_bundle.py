"""Bundle the document: each reference has a target, and an error about a wrong part names its file."""

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from haproxy_native.grammar.schema import followed
from openapi import bundle, operations
from tests.openapi.documents import document

DOCUMENT = document(everything=True)
OPERATIONS = [(method, path, operation) for path, item in DOCUMENT["paths"].items() for method, operation in item.items()]
ACTIONS = set(operations.METHODS)


def test_every_operation_says_who_answers_it():
    of_handler = {
        "handler",
        "store",
        "source",
        "unwritable",
        "access",
        "above_object",
        "rows",
        "writes",
        "options",
        "masks",
        "asks",
        "comparable",
        "merged",
        "secret",
        "calls",
    }
    for method, path, operation in OPERATIONS:
        who = operation["x-operation"]
        assert set(who) <= {"resource", "parent", "action"} or set(who) <= of_handler, (method, path)
        if "handler" in who:
            assert re.fullmatch(r"([a-z_]+\.)+[a-z_]+", who["handler"]), (method, path)
            continue
        resource = DOCUMENT["x-resources"][who["resource"]]
        assert who["action"] in ACTIONS, (method, path)
        assert who.get("parent") in resource.get("parents", [None]), (method, path)


def test_only_operations_that_make_a_change_declare_its_options():
    """The nodes of a fleet make the changes of a release later, so options of the request that began it would do nothing."""
    without = {path for _, path, operation in OPERATIONS if not operation["x-operation"].get("options", True)}
    assert {path for method, path, _ in OPERATIONS if path.startswith("/sidecar/fleet/") and method != "get"} <= without
    for method, path, operation in OPERATIONS:
        if method != "get" and path in without:
            names = {followed(DOCUMENT, each)["name"] for each in operation["parameters"]}
            assert names & {"strict", "wait", "confirm", "guard", "tests"} == {"strict"}, (method, path)


def test_operation_ids_are_unique():
    counted = Counter(operation["operationId"] for _, _, operation in OPERATIONS)
    assert [name for name, count in counted.items() if count > 1] == []


def test_every_placeholder_of_a_path_is_a_parameter():
    for method, path, operation in OPERATIONS:
        parameters = [followed(DOCUMENT, each) for each in operation["parameters"]]
        in_path = {each["name"] for each in parameters if each["in"] == "path"}
        assert in_path == set(re.findall(r"\{(\w+)\}", path)), (method, path)
        assert all(each["required"] for each in parameters if each["in"] == "path"), (method, path)
        names = [(each["in"], each["name"]) for each in parameters]
        assert len(names) == len(set(names)), (method, path)


def test_every_operation_describes_itself_and_its_failures():
    for method, path, operation in OPERATIONS:
        assert operation["summary"], (method, path)
        assert operation["description"].endswith("."), (method, path)
        assert operation["responses"]["default"] == {"$ref": "#/components/responses/error"}, (method, path)
        for response in operation["responses"].values():
            assert followed(DOCUMENT, response)["description"]


def test_every_read_of_the_configuration_can_look_into_a_transaction():
    for method, path, operation in OPERATIONS:
        if "resource" in operation["x-operation"]:
            assert {"$ref": "#/components/parameters/transaction_id"} in operation["parameters"], (method, path)


def test_a_status_for_unwritable_texts_stands_where_a_body_is_taken():
    said = {operation["x-operation"].get("unwritable") for _, _, operation in OPERATIONS if "requestBody" in operation}
    assert said == {None, 400}
    assert not [path for _, path, operation in OPERATIONS if "unwritable" in operation["x-operation"] and "requestBody" not in operation]


def test_a_filter_is_a_member_of_what_is_listed():
    for method, path, operation in OPERATIONS:
        parameters = [followed(DOCUMENT, each) for each in operation["parameters"]]
        for name in [each["name"] for each in parameters if each.get("x-filters")]:
            schema = DOCUMENT["x-resources"][operation["x-operation"]["resource"]]["schema"]
            assert (method, name in DOCUMENT["components"]["schemas"][schema]["properties"]) == ("get", True), path


def test_a_resource_that_is_not_declared_has_no_path():
    declared = bundle.document()
    shown = {op["x-operation"].get("resource") for item in declared["paths"].values() for op in item.values()}
    resources = declared["x-resources"].items()
    assert shown - {None} == {name for name, resource in resources if resource.get("declared", True) and resource.get("verbs") != []}
    offered = {operation["x-operation"].get("resource") for _, _, operation in OPERATIONS}
    assert offered - {None} == {name for name, resource in DOCUMENT["x-resources"].items() if resource.get("verbs") != []}


def test_a_path_that_is_not_declared_is_left_out(pieces: Path):
    text = (pieces / "paths" / "raw.yaml").read_text()
    (pieces / "paths" / "raw.yaml").write_text(text.replace("/raw:\n", "/raw:\n  declared: false\n"))
    assert "/services/haproxy/configuration/raw" not in bundle.document(pieces)["paths"]
    assert "/services/haproxy/configuration/raw" in bundle.document(pieces, everything=True)["paths"]


def test_a_text_that_a_comma_cuts_is_refused(pieces: Path):
    (pieces / "schemas" / "reload.yaml").write_text("reload: {type: object, description: What became of it, in short.}\n")
    with pytest.raises(bundle.Mistake, match=r"schemas/reload: 'in short\.' has no value"):
        bundle.document(pieces)


@pytest.fixture
def pieces(tmp_path):
    here = tmp_path / "openapi"
    shutil.copytree(bundle.HERE, here, ignore=shutil.ignore_patterns("*.py", "__pycache__", "generated"))
    return here


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("gone: {$ref: '#/components/schemas/nowhere'}\n", "#/components/schemas/gone: #/components/schemas/nowhere leads nowhere"),
        ("server: {type: object}\n", "server is declared twice"),
        ("switch: {type: string, enum: [on, off]}\n", "#/components/schemas/switch: enum value True is not of type string"),
        ("open: [\n", "schemas/zzz.yaml"),
    ],
    ids=["reference", "twice", "bare on", "yaml"],
)
def test_a_wrong_piece_is_refused_with_its_place(pieces: Path, text: str, complaint: str):
    (pieces / "schemas" / "zzz.yaml").write_text(text)
    with pytest.raises(bundle.Mistake, match=re.escape(complaint)):
        bundle.document(pieces)


def test_a_note_outside_the_notation_is_refused(pieces: Path):
    (pieces / "schemas" / "zzz.yaml").write_text("odd: {type: object, properties: {a: {type: string, x-haproxy: {keywort: b}}}}\n")
    (pieces / "x-haproxy.schema.json").write_text('{"additionalProperties": false, "properties": {"keyword": {"type": "string"}}}')
    for schema in (pieces / "schemas").glob("*.yaml"):
        if schema.name != "zzz.yaml":
            schema.write_text(re.sub(r"x-haproxy:", "x-other:", schema.read_text()))
    with pytest.raises(bundle.Mistake, match=r"odd/properties/a/x-haproxy: .*keywort"):
        bundle.document(pieces)


def test_properties_keep_the_order_they_are_declared_in(pieces: Path):
    (pieces / "schemas" / "zzz.yaml").write_text("odd: {type: object, properties: {b: {type: string}, a: {type: string}}}\n")
    assert list(bundle.document(pieces)["components"]["schemas"]["odd"]["properties"]) == ["b", "a"]
