"""Bundle one OpenAPI 3.0.3 document from the root, the schemas, the table of resources and the paths.

The document is served as it is and read by native: `x-resources` holds the table, each operation an `x-operation`,
and the schemas keep their `x-haproxy` notes.
"""

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import yaml

from haproxy_native.grammar.schema import target
from openapi import derived, operations
from openapi.swagger import BODY_NAME, FORM

HERE = Path(__file__).parent
METHODS = ("get", "post", "put", "patch", "delete")
# What every write takes beside parameters of its own. Where a body may be left out clients place that argument behind all parameters:
# there uploads take these without declaring them.
COMMON_TO_WRITES = ("strict", "wait_for_reload", "confirm", "guard", "tests")
# What is left of them where `x-operation` has `options: false`: an operation that makes no change for which the others could do something.
COMMON_TO_ALL = ("strict",)
FURTHER = "x-further-parameters"
# What the answers are that have an ETag.
COMPLETE = frozenset(("application/json", "text/plain", "application/octet-stream"))


class Mistake(Exception):
    """A piece that does not fit: the file and what is wrong with it."""


def document(here: Path = HERE, *, everything: bool = False) -> dict[str, Any]:
    """The whole document; `everything` expands also what is not declared yet."""
    root = load(here / "dataplane.yaml")
    table = resources(here)
    schemas = _schemas(here)
    paths = operations.expand(table, everything=everything)
    for path, item in _paths(here, everything=everything):
        paths.setdefault(path, {}).update(item)
    root["components"]["schemas"] = schemas
    root["paths"] = {path: _finished(paths[path], table) for path in sorted(paths)}
    root["tags"] = [{"name": name} for name in _tags(root["paths"])]
    root["x-resources"] = table
    root["x-references"] = load(HERE / "haproxy" / "references.yaml")
    root["x-secrets"] = {
        name: words for name, words in load(HERE / "haproxy" / "secrets.yaml").items() if name not in ("plain", "literals")
    }
    root["x-later-words"] = _later_words(load(HERE / "haproxy" / "keywords.yaml"), schemas)
    check(root, here)
    notes = ("x-longest-text", "x-resources", "x-references", "x-secrets", "x-later-words")
    order = ("openapi", "info", "servers", "security", "tags", "paths", "components", *notes)
    return {key: root[key] for key in order}


def _later_words(words: Mapping[str, Any], schemas: Mapping[str, Any]) -> dict[str, str]:
    """Each word, or kind of section, that the oldest HAProxy does not know, with the first listed version that does."""
    releases = list(words["releases"])
    first: dict[str, str] = {}
    for group, by_releases in words.items():
        if group == "releases":
            continue
        known = [(str(versions).split()[0], word) for versions, listed in by_releases.items() for word in listed]
        # A kind of section is listed by its words alone.
        for version, word in (*known, *((version, group) for version, _ in known)):
            first[word] = min(first.get(word, version), version, key=releases.index)
    later = {word: version for word, version in first.items() if version != releases[0] and word.rstrip("*") == word}
    declared = (schema.get("x-haproxy", {}) for schema in schemas.values())
    later |= {note["line"].split()[0]: note["since"] for note in declared if "since" in note and "line" in note}
    return dict(sorted(later.items()))


def load(file: Path) -> Any:
    try:
        return yaml.load(file.read_text(), Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        raise Mistake(f"{file.parent.name}/{file.name}: {error}") from None


def resources(here: Path = HERE) -> operations.Table:
    """The table of resources as it is declared."""
    return dict(load(here / "resources.yaml"))


def _schemas(here: Path) -> dict[str, Any]:
    by_name: dict[str, Any] = {}
    for file in sorted((here / "schemas").glob("*.yaml")):
        for name, schema in load(file).items():
            if name in by_name:
                raise Mistake(f"schemas/{file.name}: {name} is declared twice")
            by_name[name] = schema
    try:
        return {name: derived.derived(name, by_name) for name in sorted(by_name)}
    except derived.Unknown as error:
        raise Mistake(f"schemas/{error}") from None


def _paths(here: Path, *, everything: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    for file in sorted((here / "paths").glob("*.yaml")):
        for path, item in load(file).items():
            declared = item.pop("declared", True)
            shared = item.pop("parameters", [])
            for method in item:
                item[method] = item[method] | {"parameters": shared + item[method].get("parameters", [])}
            if declared or everything:
                yield path, item


def _finished(item: dict[str, Any], table: operations.Table) -> dict[str, Any]:
    """The operations of one path in the order of METHODS, each with the answer for everything else that can fail."""
    finished = {}
    for method in METHODS:
        if method in item:
            operation = dict(item[method])
            keyed = ("idempotency_key",) if method == "post" and operation["x-operation"].get("writes", True) else ()
            shared = COMMON_TO_WRITES if operation["x-operation"].get("options", True) else COMMON_TO_ALL
            common = (*shared, *_of_configuration(operation, table), *keyed) if method != "get" else ()
            names = (*common, *(("transaction_id",) if operation["x-operation"].get("store") else ()))
            further = [{"$ref": f"#/components/parameters/{name}"} for name in names]
            body = operation.get("requestBody", {"required": True})
            if further and body.get("required"):
                operation["parameters"] = operation.get("parameters", []) + further
            elif further:
                operation[FURTHER] = further
            responses = operation.pop("responses")
            if method == "get" and "200" in responses:
                responses = responses | {"200": _tagged(responses["200"])}
            otherwise = {"default": {"$ref": "#/components/responses/error"}}
            if "requestBody" in operation:
                operation.setdefault(BODY_NAME, _body_name(operation["requestBody"]))
            finished[method] = deepcopy(operation | {"responses": responses | otherwise})
    return finished


def _of_configuration(operation: dict[str, Any], table: operations.Table) -> Iterator[str]:
    """What writes of the configuration take, which are edits of one document; a commit is merged, and compared with nothing."""
    about = operation["x-operation"]
    is_edit = about.get("comparable", False) or "file" not in table.get(about.get("resource", ""), {"file": ""})
    if is_edit:
        yield "if_match"
    if is_edit or about.get("merged", False):
        yield "on_conflict"


def _tagged(response: dict[str, Any]) -> dict[str, Any]:
    """A complete answer has an ETag."""
    if not COMPLETE & response.get("content", {}).keys():
        return response
    return response | {"headers": response.get("headers", {}) | {"ETag": {"$ref": "#/components/headers/ETag"}}}


def _body_name(body: dict[str, Any]) -> str:
    """What generated clients call the argument."""
    return "file_upload" if list(body["content"]) == [FORM] else "data"


def _tags(paths: dict[str, Any]) -> list[str]:
    return sorted({name for item in paths.values() for operation in item.values() for name in operation["tags"]})


def check(root: dict[str, Any], here: Path = HERE) -> None:
    """Every reference leads somewhere, every enum value has the type of its schema, every note is in the notation."""
    for place, node in nodes(root):
        if rest := next((key for key, value in node.items() if value is None and " " in str(key)), ""):
            raise Mistake(f"{place}: {rest!r} has no value; a text with a comma in braces wants quotes")
        if "$ref" in node and isinstance(node["$ref"], str):
            _check_reference(root, node["$ref"], place)
        if isinstance(node.get("enum"), list):
            _check_enum(place, node)
    notation = here / "x-haproxy.schema.json"
    if notation.exists():
        _check_notes(root["components"]["schemas"], json.loads(notation.read_text()))


def nodes(node: Any, place: str = "#") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every mapping of a document with its place."""
    if isinstance(node, dict):
        yield place, node
    for key, child in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield from nodes(child, f"{place}/{key}")


def _check_reference(root: dict[str, Any], reference: str, place: str) -> None:
    try:
        target(root, reference)
    except KeyError:
        raise Mistake(f"{place}: {reference} leads nowhere") from None


def _check_enum(place: str, node: dict[str, Any]) -> None:
    expected: dict[str, type] = {"string": str, "integer": int}
    kind = expected.get(node.get("type", ""))
    for value in node["enum"]:
        if kind is not None and type(value) is not kind:
            raise Mistake(f"{place}: enum value {value!r} is not of type {node['type']} (on, off, yes and no want quotes)")


def _check_notes(schemas: dict[str, Any], notation: dict[str, Any]) -> None:
    validator = jsonschema.Draft202012Validator(notation)
    for place, node in nodes(schemas, "#/components/schemas"):
        if "x-haproxy" in node and not place.endswith("/properties"):
            for error in validator.iter_errors(node["x-haproxy"]):
                raise Mistake(f"{place}/x-haproxy: {error.message}")
