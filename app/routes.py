"""The one route of the server: walks the raw path segment by segment to an operation, then to its handler.

FastAPI tries its routes one by one, which hundreds of paths make slow; a walk over dicts costs the same for all of them.
Reads are plain functions behind the index; what changes something is a FastAPI route, built when it is first called.
"""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any
from urllib.parse import unquote

from fastapi.routing import APIRoute
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from app.answer import HeaderName
from app.errors import ApiError
from app.operations import METHODS, Handler, Operation

BASE = "/v3"
ALLOW = HeaderName(b"Allow")


class MissingHandler(Exception):
    """Operations of the document that no handler serves."""


class Node:
    """A place in the tree of paths: fixed next segments, the next segment that is a name, the operations that end here."""

    __slots__ = ("fixed", "named", "operations")

    def __init__(self) -> None:
        self.fixed: dict[str, Node] = {}
        self.named: Node | None = None
        self.operations: dict[str, Operation] = {}


class RouteIndex(BaseRoute):
    """`guide` writes the help behind a 404: from (path, query) to a sentence, or nothing."""

    def __init__(self, operations: Iterable[Operation], guide: Callable[[str, bytes], str] | None = None) -> None:
        self.root = Node()
        self.operations = tuple(operations)
        self._guide = guide
        self._routes: dict[Operation, APIRoute] = {}
        for operation in self.operations:
            self._plant(operation)

    def _plant(self, operation: Operation) -> None:
        node = self.root
        for segment in segments_of(operation.path):
            if segment.startswith("{"):
                node.named = node.named or Node()
                node = node.named
            else:
                node = node.fixed.setdefault(segment, Node())
        node.operations[operation.method] = operation

    def walk(self, raw_path: str) -> tuple[Node, list[str]] | None:
        """The node of a path below the base and the segments that are names, still encoded; one trailing slash is ignored."""
        if not raw_path.startswith(BASE + "/"):
            return (self.root, []) if raw_path == BASE else None
        node, names = self.root, []
        rest = raw_path[len(BASE) + 1 :]
        for segment in (rest.removesuffix("/")).split("/") if rest else ():
            following = node.fixed.get(segment)
            if following is None:
                if (following := node.named) is None or not segment:
                    return None
                names.append(segment)
            node = following
        return node, names

    def find(self, scope: Scope) -> tuple[Operation, dict[str, str]]:
        """The operation a request asks for and its path values; 404 and 405 say what would be right."""
        found = self.walk(scope["raw_path"].decode("latin-1"))
        if found is None or not found[0].operations:
            raise self._not_found(scope)
        node, names = found
        operation = node.operations.get(scope["method"])
        if operation is None:
            allowed = ", ".join(method.upper() for method in METHODS if method.upper() in node.operations)
            text = f"method {scope['method']} is not allowed for path {scope['path']}"
            raise ApiError(405, text, headers=[(ALLOW, allowed.encode())])
        return operation, {name: decoded(text) for name, text in zip(operation.names, names, strict=True)}

    def _not_found(self, scope: Scope) -> ApiError:
        path = scope["path"]
        if path in (BASE, BASE + "/"):
            return ApiError(404, "no matching operation was found")
        advice = self._guide(path, scope["query_string"]) if self._guide else ""
        return ApiError(404, f"path {path} was not found" + (f"; {advice}" if advice else ""))

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return (Match.FULL, {}) if scope["type"] == "http" else (Match.NONE, {})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        operation, values = self.find(scope)
        scope["operation"], scope["path_params"] = operation, values
        await self.route(operation).app(scope, receive, send)

    def route(self, operation: Operation) -> APIRoute:
        route = self._routes.get(operation)
        if route is None:
            assert operation.handler is not None
            route = APIRoute(operation.path, operation.handler, methods=[operation.method], response_model=None)
            self._routes[operation] = route
        return route


def segments_of(path: str) -> list[str]:
    return [segment for segment in path.split("/") if segment]


def decoded(segment: str) -> str:
    return unquote(segment, errors="surrogateescape") if "%" in segment else segment


def attach_handlers(operations: Iterable[Operation], resources: Mapping[str, Any]) -> None:
    """Gives each operation its handler, or tells all that have none."""
    missing = []
    for operation in operations:
        operation.handler = _handler(operation, resources)
        if operation.handler is None:
            missing.append(f"{operation.method} {operation.path}")
    if missing:
        raise MissingHandler("no handler for " + ", ".join(missing))


# A regular resource is served by the module of its kind, whatever it is called; a view is handled like the sections it shows.
KINDS = {"section": "section", "view": "section", "named": "named_child", "indexed": "indexed_child", "singleton": "singleton"}


# Sections of other files than the configuration have a module of their own.
FILES = {"spoe": "spoe_objects"}


def _handler(operation: Operation, resources: Mapping[str, Any]) -> Handler | None:
    if operation.handler_name:
        module, _, name = operation.handler_name.partition(".")
        table = vars(_module(module))
    else:
        about = resources.get(operation.resource or "")
        module = FILES.get(about.get("file", ""), KINDS.get(about["kind"], "")) if about else ""
        name = operation.action or ""
        table = vars(_module(module)).get("ACTIONS", {}) if module else {}
    found: Handler | None = table.get(name)
    return found


def _module(name: str) -> Any:
    try:
        return import_module(f"app.handlers.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"app.handlers.{name}":
            raise
        return object
