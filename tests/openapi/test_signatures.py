"""Compare names, tags and the order of arguments with the stored lists, so that generated clients stay the same."""

import difflib
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from haproxy_native.grammar.schema import followed
from openapi import signatures
from openapi.swagger import BODY_NAME, swagger
from tests.openapi.documents import document

LISTED = ("openapi3.txt", "swagger2.txt")
listings = cache(signatures.listings)
ADVICE = """
A client that was generated before breaks where a line changes, but for arguments that may be left out and stand last.
Where that is meant, or an operation is new: python -m openapi.signatures
"""


@pytest.mark.parametrize("name", LISTED)
def test_the_documents_are_those_that_clients_were_generated_from(name: str) -> None:
    file = signatures.LISTING / name
    changes = difflib.unified_diff(file.read_text().splitlines(), listings()[file].splitlines(), "before", "now", lineterm="", n=0)
    assert not (lines := list(changes)), "\n".join([*lines, ADVICE])


def test_a_line_tells_all_that_matters() -> None:
    lines = {file.stem: dict(line.split(": ", 1) for line in text.splitlines()) for file, text in listings().items()}
    assert set(lines) == {Path(name).stem for name in LISTED}
    server = "DELETE /services/haproxy/configuration/backends/{parent_name}/servers/{name}"
    common = "strict: query, wait: query, confirm: query, guard: query, tests: query, If-Match: header, on_conflict: query"
    arguments = f"name, parent_name, transaction_id: query, version: query, force_reload: query, {common}"
    assert lines["openapi3"][server] == f"Server.deleteServerBackend({arguments})"
    certificate = "POST /services/haproxy/storage/ssl_crt_lists"
    assert lines["openapi3"][certificate] == "Storage.createStorageSSLCrtListFile(force_reload: query, file_upload: multipart/form-data)"
    assert lines["swagger2"][certificate] == (
        "Storage.createStorageSSLCrtListFile(file_upload: formData, force_reload: query) consumes multipart/form-data"
    )


def test_an_id_is_that_of_one_operation() -> None:
    for served in (document(), swagger(document())):
        ids = Counter(each["operationId"] for item in served["paths"].values() for each in item.values() if "operationId" in each)
        assert [name for name, count in ids.items() if count > 1] == []


def test_every_body_has_a_name_and_every_operation_one_tag() -> None:
    for item in document()["paths"].values():
        for operation in item.values():
            assert (BODY_NAME in operation) == ("requestBody" in operation)
            assert len(operation["tags"]) == 1


def test_nothing_of_ours_stands_before_a_body_that_may_be_left_out() -> None:
    """Some generators make that the last argument, behind all parameters."""
    for item in document()["paths"].values():
        for operation in item.values():
            if not operation.get("requestBody", {"required": True}).get("required"):
                assert {"$ref": "#/components/parameters/strict"} not in operation.get("parameters", [])


def test_what_may_be_left_out_stands_behind_what_may_not() -> None:
    """But for a path, whose names are given by their own order."""
    for path, item in document()["paths"].items():
        for method, operation in item.items():
            parameters = [followed(document(), each) for each in operation.get("parameters", [])]
            required = [each.get("required", False) for each in parameters]
            assert required == sorted(required, reverse=True), (method, path)
