"""Convert the document to Swagger 2.0.

Our own notes (`x-haproxy`, `x-operation`, `x-resources`) stay out of it; `nullable` becomes `x-nullable`. Where an operation has another
id, order of parameters or media types than in OpenAPI 3, its note `x-swagger` says so. Of words of an `enum` that differ in punctuation
alone (`L4OK`, `* L4OK`) only the first is in it.
"""

import re
from collections.abc import Callable
from typing import Any

from haproxy_native.grammar.schema import name_of

BODY_NAME = "x-codegen-request-body-name"
FORM = "multipart/form-data"
DEFAULT = ["application/json"]
REFERENCES = {
    "#/components/schemas/": "#/definitions/",
    "#/components/parameters/": "#/parameters/",
    "#/components/responses/": "#/responses/",
}
NOTES = (
    "x-haproxy",
    "x-operation",
    "x-resources",
    "x-swagger",
    "x-existing",
    "x-filters",
    "x-guards",
    "x-other-names",
    "x-further-parameters",
    "x-seconds",
    "x-secret",
    BODY_NAME,
)

Node = dict[str, Any]


def swagger(document: Node) -> Node:
    """The Swagger 2.0 form of an OpenAPI 3.0.3 document."""
    components = document["components"]
    convert = _Converter(components)
    return {
        "swagger": "2.0",
        "info": document["info"],
        "basePath": document["servers"][0]["url"],
        "schemes": ["http"],
        "consumes": ["application/json"],
        "produces": ["application/json"],
        "securityDefinitions": {"basic_auth": {"type": "basic"}},
        "security": [{"basic_auth": []}],
        "tags": document["tags"],
        "paths": {path: _each(item, convert.operation) for path, item in document["paths"].items()},
        "definitions": _each(components["schemas"], convert.schema),
        "parameters": _each(components["parameters"], convert.parameter),
        "responses": _each(components["responses"], convert.response),
    }


def _each(mapping: Node, convert: Callable[[Node], Node]) -> Node:
    return {key: convert(value) for key, value in mapping.items()}


class _Converter:
    """Takes the components along, since Swagger has no references to headers."""

    def __init__(self, components: Node) -> None:
        self.components = components

    def operation(self, old: Node) -> Node:
        note = old.get("x-swagger", {})
        new = {key: value for key, value in old.items() if key not in (*NOTES, "parameters", "requestBody", "responses")} | note
        if new["operationId"] is None:
            del new["operationId"]
        if "requestBody" in old and (consumed := _consumed(old["requestBody"])) != DEFAULT:
            new["consumes"] = consumed
        if "produces" not in note and (produced := self._produced(old["responses"])) != DEFAULT:
            new["produces"] = produced
        new.pop("parameters", None)
        if parameters := self._ordered(self._parameters(old), note.get("parameters", [])):
            new["parameters"] = parameters
        return new | {"responses": _each(old["responses"], self.response)}

    def _parameters(self, old: Node) -> list[Node]:
        """With the body behind what addresses an object, before what may be left out."""
        parameters = [self.parameter(parameter) for parameter in old.get("parameters", [])]
        if "requestBody" in old:
            at = sum(1 for parameter in old["parameters"] if self._whole(parameter, "parameters").get("required")) if parameters else 0
            parameters[at:at] = _body(old["requestBody"], old[BODY_NAME], self.schema)
        return parameters

    def _ordered(self, parameters: list[Node], first: list[str]) -> list[Node]:
        names = [self._whole(parameter, "parameters")["name"] for parameter in parameters]
        places = {name: place for place, name in enumerate(first)}
        return [parameters[at] for at in sorted(range(len(names)), key=lambda at: places.get(names[at], len(first)))]

    def _produced(self, responses: Node) -> list[str]:
        """Media types of what succeeds; errors are JSON everywhere."""
        succeeded = [self._whole(response, "responses") for status, response in responses.items() if status.startswith("2")]
        return sorted({media for response in succeeded for media in response.get("content", {})}) or DEFAULT

    def _whole(self, node: Node, kind: str) -> Node:
        """Of a reference of either document."""
        return self.components[kind][name] if (name := name_of(node)) else node

    def parameter(self, old: Node) -> Node:
        if "$ref" in old:
            return _reference(old)
        return {key: value for key, value in old.items() if key not in (*NOTES, "schema")} | self.schema(old["schema"])

    def response(self, old: Node) -> Node:
        if "$ref" in old:
            return _reference(old)
        new: Node = {"description": old["description"]}
        if content := old.get("content"):
            new["schema"] = self.schema(content.get("application/json", next(iter(content.values())))["schema"])
        if headers := old.get("headers"):
            new["headers"] = _each(headers, self.header)
        return new

    def header(self, old: Node) -> Node:
        whole = self._whole(old, "headers")
        return {"description": whole["description"]} | self.schema(whole["schema"])

    def schema(self, old: Node) -> Node:
        if "$ref" in old:
            return _reference(old)
        new: Node = {}
        for key, value in old.items():
            if key == "properties":
                new[key] = _each(value, self.schema)
            elif key == "allOf":
                new[key] = [self.schema(part) for part in value]
            elif key == "items" or (key == "additionalProperties" and isinstance(value, dict)):
                new[key] = self.schema(value)
            elif key == "enum":
                new[key] = _distinct(value)
            elif key in ("nullable", "deprecated"):
                new[f"x-{key}"] = value
            elif key not in NOTES:
                new[key] = value
        return new


def _consumed(body: Node) -> list[str]:
    """Swagger 2.0 cannot say that a body may also be a form."""
    return [content_type for content_type in body["content"] if content_type != FORM] or [FORM]


def _body(body: Node, name: str, schema: Callable[[Node], Node]) -> list[Node]:
    """One parameter; of a form one for each of its parts."""
    media_type, content = next(iter(body["content"].items()))
    if media_type == FORM:
        return [_part(part, about) for part, about in content["schema"]["properties"].items()]
    return [{"name": name, "in": "body", "required": body.get("required", False), "schema": schema(content["schema"])}]


def _part(name: str, about: Node) -> Node:
    return {"name": name, "in": "formData", "description": about.get("description", "The file."), "type": "file"}


def _distinct(words: list[Any]) -> list[Any]:
    """The words that go-swagger can tell apart: it names constants without punctuation, and two of one name do not compile."""
    named = {re.sub(r"\W", "", str(word)) or word: word for word in reversed(words)}
    return [word for word in words if word in named.values()]


def _reference(node: Node) -> Node:
    for old, new in REFERENCES.items():
        if node["$ref"].startswith(old):
            return {"$ref": new + node["$ref"].removeprefix(old)}
    raise ValueError(f"{node['$ref']} has no place in Swagger 2.0")
