"""Tells the same document as Swagger 2.0, for clients that read nothing newer.

Our own notes (`x-haproxy`, `x-operation`, `x-resources`) stay out of it; `nullable` becomes `x-nullable`.
"""

from collections.abc import Callable
from typing import Any

REFERENCES = {
    "#/components/schemas/": "#/definitions/",
    "#/components/parameters/": "#/parameters/",
    "#/components/responses/": "#/responses/",
}
NOTES = ("x-haproxy", "x-operation", "x-resources")

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
        "security": document["security"],
        "tags": document["tags"],
        "paths": {path: _each(item, convert.operation) for path, item in document["paths"].items()},
        "definitions": _each(components["schemas"], convert.schema),
        "parameters": _each(components["parameters"], convert.parameter),
        "responses": _each(components["responses"], convert.response),
    }


def _each(mapping: Node, convert: Callable[[Node], Node]) -> Node:
    return {key: convert(value) for key, value in mapping.items()}


class _Converter:
    """Knows the components, since Swagger has no references to headers."""

    def __init__(self, components: Node) -> None:
        self.components = components

    def operation(self, old: Node) -> Node:
        new = {key: value for key, value in old.items() if key not in (*NOTES, "parameters", "requestBody", "responses")}
        parameters = [self.parameter(parameter) for parameter in old.get("parameters", [])]
        if "requestBody" in old:
            body = old["requestBody"]
            new["consumes"] = list(body["content"])
            parameters.append(_body(body, self.schema))
        new["produces"] = self._produced(old["responses"])
        if parameters:
            new["parameters"] = parameters
        return new | {"responses": _each(old["responses"], self.response)}

    def _produced(self, responses: Node) -> list[str]:
        types = {media for response in responses.values() for media in self._whole(response, "responses").get("content", {})}
        return sorted(types, key=lambda media: (media == "application/json", media))

    def _whole(self, node: Node, kind: str) -> Node:
        return self.components[kind][node["$ref"].rsplit("/", 1)[1]] if "$ref" in node else node

    def parameter(self, old: Node) -> Node:
        if "$ref" in old:
            return _reference(old)
        return {key: value for key, value in old.items() if key != "schema"} | self.schema(old["schema"])

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
            elif key in ("nullable", "deprecated"):
                new[f"x-{key}"] = value
            elif key not in NOTES:
                new[key] = value
        return new


def _body(body: Node, schema: Callable[[Node], Node]) -> Node:
    content = next(iter(body["content"].values()))
    return {"name": "data", "in": "body", "required": body.get("required", False), "schema": schema(content["schema"])}


def _reference(node: Node) -> Node:
    for old, new in REFERENCES.items():
        if node["$ref"].startswith(old):
            return {"$ref": new + node["$ref"].removeprefix(old)}
    raise ValueError(f"{node['$ref']} has no place in Swagger 2.0")
