"""Define the operations of the API as the bundled document declares them, and the index that finds the operation of a path.

An `Operation` computes what only some requests need (the module of the handler, parameters, body, media types) on first use.

`RouteIndex` walks the raw path of a request segment by segment, so the cost does not depend on the number of operations.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from inspect import isfunction
from itertools import pairwise
from typing import Any, get_type_hints
from urllib.parse import quote, unquote

from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.parameters import Parameter, query_values
from dataplaneapi.api.responses import HeaderName, Response
from dataplaneapi.feature_list import missing
from haproxy_native.grammar.load import bundle
from haproxy_native.grammar.schema import followed

BASE = "/v3"
ALLOW = HeaderName(b"Allow")
# The argument of both is a `Call`.
Handler = Callable[[Any], Awaitable[Response]]
Check = Callable[[Any], Awaitable[bool | None]]
METHODS = ("get", "head", "post", "put", "patch", "delete", "options")
READS, _TRUE = ("GET", "HEAD"), ("true", "1")
# The values of `Operation.access` other than the name of an object.
EFFECTS, READING, SECTION, ANY, ANYONE = "effects", "read", "section", "any", "anyone"
# The values of `Operation.rows` other than a template for the object name of a row.
OBJECTS, COUNTERS = "objects", "counters"
# The action whose body contains only some members of an object.
PATCH = "patch"
# The header parameter that makes a write conditional.
IF_MATCH = "If-Match"
# The handler module of the objects of the configuration, and of those in other files by the kind of file.
OBJECTS_MODULE, FILES = "configuration.objects", {"spoe": "spoe.objects"}

# The prefix of handlers that belong to features.
FEATURES = "features."
# The irregular singulars of collections. The singular of any other collection is its name without the s.
_CALLED = {"aws": "aws", "spoe_files": "spoe", "ssl_certs": "certificate"}


class MissingHandler(Exception):
    """An operation of the document without a handler."""


@dataclass(frozen=True)
class Body:
    """The body that an operation accepts."""

    media_types: tuple[str, ...]
    # The schema of a JSON body.
    schema: Mapping[str, Any]
    required: bool
    # Whether a single element is accepted instead of a list.
    takes_one: bool = False


class Operation:
    """One method of one path."""

    def __init__(self, method: str, path: str, declared: Mapping[str, Any], bundle: Mapping[str, Any]) -> None:
        self.method, self.path, self.declared, self.bundle = method, path, declared, bundle
        self.names = tuple(part[1:-1] for part in path.split("/") if part.startswith("{"))
        about = declared["x-operation"]
        self.handler_name: str | None = about.get("handler")
        self.resource: str | None = about.get("resource")
        self.parent: str | None = about.get("parent")
        self.action: str | None = about.get("action")
        # The file store that the operation uses, and the kind of service discovery source. Empty if it uses none.
        self.store: str = about.get("store", "")
        self.source: str = about.get("source", "")
        # The status of the refusal of a text that cannot be part of a line of a file or of a runtime command.
        self.unwritable: int = about.get("unwritable", 422)
        # The permission that the caller needs if roles are configured:
        #   EFFECTS  the permissions for the changes, which the commit checks
        #   READING  the same as for a GET
        #   SECTION  to read the section that the query parameter `object` names or is in; without `object`, to read everything
        #   ANY      a role, whatever it permits
        #   ANYONE   none, not even a role
        #   a template for the name of an object: the permission for that object
        #   empty    the permission for all objects
        self.access: str = about.get("access", EFFECTS if self.resource else "")
        # Which objects the answer shows: a template, OBJECTS or COUNTERS (api/access.py).
        self.rows: str = about.get("rows", "")
        # The part of the path before the name of an object, in which slashes may be percent-encoded.
        self.above_object: str = about.get("above_object", "")
        # Whether a read-only server refuses the operation.
        self.writes: bool = about.get("writes", method not in ("GET", "HEAD"))
        # Whether the options of a change, such as `confirm`, have an effect.
        self.has_options: bool = about.get("options", True)
        # Whether the body describes a call that the operation checks but does not make.
        self.asks: bool = about.get("asks", False)
        # Whether the answer contains a secret that the server does not store.
        self.secret: bool = about.get("secret", False)
        # Whether the body describes calls that the operation makes.
        self.calls: bool = about.get("calls", False)

    @cached_property
    def handler(self) -> Handler:
        """The handler. The first use imports its module. Raises MissingHandler."""
        module, name = self._handled_by
        table = vars(_module(module)) if module else {}
        if not self.handler_name:
            table = table.get("ACTIONS", {})
        if name not in table:
            raise MissingHandler(f"no handler for {self.method} {self.path}")
        function: Handler = table[name]
        return function

    @property
    def _handled_by(self) -> tuple[str, str]:
        """The module of the handler, and the name of the handler in that module or in its ACTIONS."""
        if self.handler_name:
            module, _, name = self.handler_name.rpartition(".")
            return module, name
        about = self.bundle.get("x-resources", {}).get(self.resource or "")
        return FILES.get(about.get("file", ""), OBJECTS_MODULE) if about else "", self.action or ""

    @cached_property
    def check(self) -> Check | None:
        """The function that checks a call of this operation but does not make it. None if the operation has no such function.

        The function is the attribute `check` of the handler, or the entry of CHECKS in the handler's module under the handler's name. It
        raises the error with which the call would be refused. It returns whether the call would reload HAProxy, or None if that is unknown.
        """
        module, name = self._handled_by
        check: Check | None = getattr(self.handler, "check", None) or vars(_module(module)).get("CHECKS", {}).get(name)
        return check

    @cached_property
    def reader(self) -> Callable[[Any], Awaitable[Any]]:
        """The function that creates the handler's `Call` from an `Incoming`. It is the dependency of the handler's parameter."""
        handler = self.handler if isfunction(self.handler) else type(self.handler).__call__
        annotations = get_type_hints(handler, include_extras=True)
        (depends,) = (each.__metadata__[0] for name, each in annotations.items() if name != "return")
        reader: Callable[[Any], Awaitable[Any]] = depends.dependency
        return reader

    def is_read(self, query: bytes) -> bool:
        """Return whether a request with this query changes nothing."""
        return self.method in READS or self.access == READING or self.asks or self.is_dry(query)

    def is_dry(self, query: bytes) -> bool:
        """Return whether a write with this query is a dry run."""
        values = query_values(query) if query and self.dry_runs else {}
        return any(values.get(name, [""])[-1].lower() in _TRUE for name in self.dry_runs)

    def load(self) -> None:
        """Import the module of the handler. Raises MissingHandler."""
        _ = self.handler

    def at(self, values: Mapping[str, Any]) -> str:
        """Return the path with its parameters replaced by the percent-encoded values."""
        return self.path.format(**{name: quote(str(values[name]), safe="") for name in self.names})

    @property
    def id(self) -> str:
        return str(self.declared["operationId"])

    @cached_property
    def tag(self) -> str:
        """The tag of the operation in the document, which groups operations."""
        return str(next(iter(self.declared.get("tags", ())), ""))

    @cached_property
    def collections(self) -> tuple[tuple[str, str], ...]:
        """The collections in the path that a parameter follows, as (singular, name of the parameter), such as ("backend", "name").

        `entries` are omitted, because their keys are the content of a map.
        """
        pairs = [pair for pair in pairwise(self.path.split("/")) if pair[1].startswith("{") and pair[0] != "entries"]
        return tuple((_CALLED.get(kind, kind.removesuffix("s")), name[1:-1]) for kind, name in pairs if not kind.startswith("{"))

    @property
    def is_batched(self) -> bool:
        """Whether the operation can be part of a batch. It can be if it writes objects of the configuration or stored files."""
        about = self.bundle.get("x-resources", {}).get(self.resource or "", {"file": ""})
        return self.writes and (bool(self.store) or "file" not in about)

    @property
    def is_of_one(self) -> bool:
        """Whether the path ends with the name of an object. Otherwise the operation is for a collection or a nameless object."""
        return self.path.endswith("}")

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        shared, further = self.bundle["paths"][self.path].get("parameters", []), self.declared.get("x-further-parameters", [])
        return tuple(Parameter.of(self._resolve(parameter)) for parameter in [*shared, *self.declared.get("parameters", []), *further])

    @property
    def in_effect(self) -> int:
        """The status of the response to a change that is already in effect."""
        return min(int(status) for status in self.declared["responses"] if status in ("200", "201", "204"))

    @cached_property
    def filters(self) -> tuple[str, ...]:
        """The query parameters by which a list can be filtered. Each is compared with the member of the same name."""
        declared = map(self._resolve, self.declared.get("parameters", []))
        return tuple(parameter["name"] for parameter in declared if parameter.get("x-filters"))

    @cached_property
    def dry_runs(self) -> tuple[str, ...]:
        """The boolean parameters that make the operation a dry run."""
        declared = map(self._resolve, self.declared.get("parameters", []))
        return tuple(parameter["name"] for parameter in declared if parameter.get("x-dry-run"))

    @cached_property
    def guards(self) -> dict[str, tuple[str, ...]]:
        """The parameters that restrain a write, such as `dry_run`, by name. The value is all spellings to recognize.

        These are the parameters that restrain every write, and those of this operation. If the operation does not have the options of a
        change, these options are included too, because the operation would ignore them.
        """
        beyond = ["everywhere"] + ["sidecar"] * ("Sidecar" in self.declared.get("tags", ())) + ["here"] * (not self.has_options)
        everywhere = [each for each in self.bundle["components"]["parameters"].values() if each.get("x-guards") in beyond]
        declared = [*self.declared.get("parameters", []), *self.declared.get("x-further-parameters", [])]
        own = [self._resolve(parameter) for parameter in declared if "x-guards" in self._resolve(parameter)]
        return {parameter["name"]: (parameter["name"], *parameter.get("x-other-names", ())) for parameter in [*everywhere, *own]}

    @cached_property
    def body(self) -> Body | None:
        if "requestBody" not in self.declared:
            return None
        declared = self._resolve(self.declared["requestBody"])
        content = declared["content"]
        schema = next(iter(content.values())).get("schema", {})
        about = self.bundle.get("x-resources", {}).get(self.resource or "", {})
        if "body" in about or self.action == PATCH:
            # The body of a PATCH, and a body that the document declares only as an object, have the schema of the resource.
            schema = {"$ref": f"#/components/schemas/{about['schema']}"}
        return Body(tuple(content), schema, declared.get("required", False), declared.get("x-takes-one", False))

    def answer(self, status: int, media_type: str) -> Mapping[str, Any]:
        """Return the schema of an answer, or an empty schema if the document declares none.

        If the answer is a list, the schema may be that of its elements.
        """
        if status < 300 and media_type == "application/json" and (about := self.bundle.get("x-resources", {}).get(self.resource or "")):
            return {"$ref": f"#/components/schemas/{about['schema']}"}
        responses = self.declared.get("responses", {})
        response = self._resolve(responses.get(str(status)) or responses.get("default") or {})
        schema: Mapping[str, Any] = response.get("content", {}).get(media_type, {}).get("schema", {})
        if status < 400 or media_type != "application/json":
            return schema
        return {"allOf": [schema, *({"$ref": f"#/components/schemas/{name}"} for name in ("error", "refusal"))]}

    @cached_property
    def media_types(self) -> frozenset[str]:
        """The media types of the answers. JSON is included, because errors are JSON."""
        answers = (self._resolve(response).get("content", {}) for response in self.declared.get("responses", {}).values())
        return frozenset(kind for content in answers for kind in content) | {"application/json"}

    def _resolve(self, node: Mapping[str, Any]) -> Mapping[str, Any]:
        return followed(self.bundle, node)

    def __repr__(self) -> str:
        return f"Operation({self.method} {self.path})"


def _module(name: str) -> Any:
    """Import a module of handlers and return it. Return a class without handlers if the module does not exist."""
    full_name = f"dataplaneapi.{name}" if name.startswith(FEATURES) else f"dataplaneapi.handlers.{name}"
    try:
        return import_module(full_name)
    except ModuleNotFoundError as error:
        if error.name != full_name:
            raise
        return object


def operations(bundle: Mapping[str, Any]) -> Iterator[Operation]:
    for path, methods in bundle["paths"].items():
        for method in METHODS:
            if method in methods:
                yield Operation(method.upper(), path, methods[method], bundle)


@cache
def served_document() -> Mapping[str, Any]:
    """Return the document, but leave out the operations of missing features."""
    return without_features(bundle(), missing())


def without_features(bundle: Mapping[str, Any], missing: Collection[str]) -> Mapping[str, Any]:
    """Return the document, but leave out the operations and parameters of the features in `missing`."""
    if not missing:
        return bundle
    parameters = bundle["components"]["parameters"]
    removed = {f"#/components/parameters/{name}" for name, declared in parameters.items() if declared.get("x-feature") in missing}
    paths: dict[str, Any] = {}
    for path, methods in bundle["paths"].items():
        served: dict[str, Any] = {}
        for name, declared in methods.items():
            handler = declared.get("x-operation", {}).get("handler", "") if isinstance(declared, Mapping) else ""
            feature = handler.removeprefix(FEATURES).partition(".")[0] if handler.startswith(FEATURES) else ""
            if feature not in missing:
                served[name] = _without_parameters(declared, removed)
        if not served.keys().isdisjoint(METHODS):
            paths[path] = served
    remaining = {name: declared for name, declared in parameters.items() if declared.get("x-feature") not in missing}
    return {**bundle, "paths": paths, "components": {**bundle["components"], "parameters": remaining}}


def _without_parameters(declared: Any, removed: Collection[str]) -> Any:
    """Return an operation, or the parameters of a path, but leave out the parameters that the references in `removed` name."""
    if isinstance(declared, list):
        return [each for each in declared if each.get("$ref") not in removed]
    if not isinstance(declared, Mapping):
        return declared
    lists = {name: _without_parameters(declared[name], removed) for name in ("parameters", "x-further-parameters") if name in declared}
    return {**declared, **lists}


class RouteNode:
    """A node in the tree of paths."""

    __slots__ = ("fixed", "operations", "parameter")

    def __init__(self) -> None:
        # Nodes by the next segment.
        self.fixed: dict[str, RouteNode] = {}
        # The node if the next segment is a path parameter.
        self.parameter: RouteNode | None = None
        # The operations whose path ends here, by method.
        self.operations: dict[str, Operation] = {}


class RouteIndex:
    """The index of the operations by path. The index does not change after its construction.

    `guide(path, query)` returns the advice that ends the message of a 404, or an empty text.
    """

    def __init__(self, operations: Iterable[Operation], guide: Callable[[str, bytes], str] | None = None) -> None:
        self.root = RouteNode()
        self.operations = tuple(operations)
        self._guide = guide
        # Beginnings of paths that continue with the name of an object.
        self._above_objects = tuple({operation.above_object for operation in self.operations if operation.above_object})
        for operation in self.operations:
            node = self.root
            for segment in segments_of(operation.path):
                if segment.startswith("{"):
                    node.parameter = node.parameter or RouteNode()
                    node = node.parameter
                else:
                    node = node.fixed.setdefault(segment, RouteNode())
            node.operations[operation.method] = operation

    def walk(self, raw_path: str) -> tuple[RouteNode, list[str]] | None:
        """Return the node of a path, and the percent-encoded values of the parameters in the path. Return None for an unknown path.

        One trailing slash is ignored.
        """
        if not raw_path.startswith(BASE + "/"):
            return (self.root, []) if raw_path == BASE else None
        node, names = self.root, []
        rest = raw_path[len(BASE) + 1 :]
        if rest.startswith(self._above_objects):
            # The parts of an object's name contain no slashes, so an encoded slash is a separator too.
            rest = rest.replace("%2F", "/").replace("%2f", "/")
        for segment in (rest.removesuffix("/")).split("/") if rest else ():
            following = node.fixed.get(segment)
            if following is None:
                if (following := node.parameter) is None or not segment:
                    return None
                names.append(segment)
            node = following
        return node, names

    def find(self, method: str, raw_path: bytes, query: bytes = b"") -> tuple[Operation, dict[str, str]]:
        """Return the operation of a request and the values of its path parameters.

        Raises ApiError (404 or 405), whose message suggests another path or method.
        """
        text = raw_path.decode("latin-1")
        node, names = self.walk(text) or (None, [])
        if node is None or not node.operations:
            path = unquote(text)
            if path in (BASE, BASE + "/"):
                raise ApiError(404, "no matching operation was found")
            advice = self._guide(path, query) if self._guide else ""
            raise ApiError(404, f"path {path} was not found" + (f"; {advice}" if advice else ""))
        operation = node.operations.get(method)
        if operation is None:
            raise self._not_allowed(method, text, node)
        return operation, {name: decoded(text) for name, text in zip(operation.names, names, strict=True)}

    def _not_allowed(self, method: str, raw_path: str, node: RouteNode) -> ApiError:
        """Return the error 405, which lists the methods of the path.

        The message suggests the path of the collection or of its elements, if that path has the method.
        """
        allowed = [each.upper() for each in METHODS if each.upper() in node.operations]
        path, first = raw_path.removesuffix("/"), ", ".join(allowed[:-1])
        text = f"method {method} is not allowed for path {unquote(raw_path)}, which has {first + ' and ' if first else ''}{allowed[-1]}"
        if node.parameter and (operation := node.parameter.operations.get(method)):
            text += f"; did you mean {method} {path}/{segments_of(operation.path)[-1]}?"
        elif next(iter(node.operations.values())).path.endswith("}"):
            collection = path.rpartition("/")[0]
            if (match := self.walk(collection)) and method in match[0].operations:
                text += f"; did you mean {method} {collection}?"
        return ApiError(405, text, headers=[(ALLOW, ", ".join(allowed).encode())])


def segments_of(path: str) -> list[str]:
    return [segment for segment in path.split("/") if segment]


def decoded(segment: str) -> str:
    return unquote(segment, errors="surrogateescape") if "%" in segment else segment
