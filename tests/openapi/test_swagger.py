"""Convert the document to Swagger 2.0: it has the same operations, and no feature of OpenAPI 3."""

import re

from haproxy_native.grammar.schema import followed, target
from openapi import bundle
from openapi.swagger import FORM, swagger
from tests.openapi.documents import document

DOCUMENT = document(everything=True)
SWAGGER = swagger(DOCUMENT)
OPERATIONS = [(method, path, operation) for path, item in SWAGGER["paths"].items() for method, operation in item.items()]
NEWER = {"components", "requestBody", "content", "nullable", "securitySchemes", "servers"}
NEWER |= {"x-haproxy", "x-operation", "x-resources", "x-swagger"}


def test_it_has_the_same_operations():
    """With the same ids, but where a note says otherwise."""

    def ids(document: dict) -> dict:
        return {(path, method): op.get("operationId") for path, item in document["paths"].items() for method, op in item.items()}

    noted = {
        (path, method): op["x-swagger"]["operationId"]
        for path, item in DOCUMENT["paths"].items()
        for method, op in item.items()
        if "operationId" in op.get("x-swagger", {})
    }
    assert ids(SWAGGER) == ids(DOCUMENT) | noted
    assert set(SWAGGER["definitions"]) == set(DOCUMENT["components"]["schemas"])


def test_every_reference_leads_somewhere():
    for place, node in bundle.nodes(SWAGGER):
        if isinstance(node.get("$ref"), str):
            assert isinstance(target(SWAGGER, node["$ref"]), dict), place


def test_it_holds_no_word_of_openapi_3():
    for place, node in bundle.nodes(SWAGGER):
        if not place.endswith(("/properties", "/definitions")):
            assert not NEWER & set(node), place


def test_parameters_have_a_type_or_are_the_body():
    for method, path, operation in OPERATIONS:
        parameters = [followed(SWAGGER, each) for each in operation.get("parameters", [])]
        for each in parameters:
            assert ("schema" in each) == (each["in"] == "body"), (method, path)
            assert each["in"] == "body" or (each["type"] == "file") == (each["in"] == "formData"), (method, path)
            assert each["in"] in ("body", "formData") or each["type"] in ("string", "integer", "boolean"), (method, path)
        assert sum(each["in"] == "body" for each in parameters) <= 1, (method, path)
        assert ({"formData"} & {each["in"] for each in parameters}) == ({"formData"} if FORM in operation.get("consumes", ()) else set())


def test_bodies_and_their_media_types():
    raw = SWAGGER["paths"]["/services/haproxy/configuration/raw"]["post"]
    assert raw["consumes"] == ["text/plain"]
    assert raw["produces"] == ["text/plain"]
    assert [each["schema"] for each in raw["parameters"] if each.get("in") == "body"] == [{"type": "string"}]
    backends = SWAGGER["paths"]["/services/haproxy/configuration/backends"]
    assert SWAGGER["consumes"] == SWAGGER["produces"] == ["application/json"]
    assert "consumes" not in backends["post"]
    assert "produces" not in backends["get"]
    assert backends["post"]["responses"]["201"]["schema"] == {"$ref": "#/definitions/backend"}


def test_a_file_is_a_part_of_a_form():
    lists = SWAGGER["paths"]["/services/haproxy/storage/ssl_crt_lists"]["post"]
    assert lists["consumes"] == ["multipart/form-data"]
    assert [(each["name"], each["type"]) for each in lists["parameters"] if each.get("in") == "formData"] == [("file_upload", "file")]


def test_of_a_body_that_may_be_a_form_only_the_other_is_told():
    plan = SWAGGER["paths"]["/sidecar/plan"]["post"]
    assert plan["consumes"] == ["text/plain"]
    assert [(each["name"], each["schema"]) for each in plan["parameters"] if each.get("in") == "body"] == [("data", {"type": "string"})]


def test_headers_stand_in_the_response_itself():
    answer = SWAGGER["paths"]["/services/haproxy/configuration/backends"]["get"]["responses"]["200"]
    assert answer["headers"]["Configuration-Version"]["type"] == "integer"


def test_absence_of_a_number_can_still_be_told():
    maxlen = SWAGGER["definitions"]["ring_base"]["properties"]["maxlen"]
    assert (maxlen["type"], maxlen["x-nullable"]) == ("integer", True)


def test_it_is_behind_basic_authentication():
    assert SWAGGER["securityDefinitions"] == {"basic_auth": {"type": "basic"}} and SWAGGER["security"] == [{"basic_auth": []}]
    assert SWAGGER["basePath"] == "/v3"


def test_words_of_an_enum_that_differ_in_punctuation_alone_are_one():
    """Generated code would have two constants of one name; OpenAPI 3 has both words, since generated clients check what they read."""
    for place, node in bundle.nodes(SWAGGER):
        words = node.get("enum")
        if isinstance(words, list):
            named = [re.sub(r"\W", "", str(word)) or word for word in words]
            assert len(set(named)) == len(named), place
    full, plain = (holder["native_stat_stats"]["properties"] for holder in (DOCUMENT["components"]["schemas"], SWAGGER["definitions"]))
    for name in ("check_status", "agent_status"):
        assert {"L4OK", "* L4OK"} <= set(full[name]["enum"])
        assert plain[name]["enum"] == [word for word in full[name]["enum"] if not word.startswith("* ")]
    assert plain["status"]["enum"] == full["status"]["enum"]
