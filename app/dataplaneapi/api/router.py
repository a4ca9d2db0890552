"""The index of the operations: walks the raw path of a request segment by segment, which costs the same for every path."""

from collections.abc import Callable, Iterable
from urllib.parse import unquote

from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.operations import METHODS, Operation
from dataplaneapi.api.responses import HeaderName

BASE = "/v3"
ALLOW = HeaderName(b"Allow")


class RouteNode:
    """A place in the tree of paths: fixed next segments, the next segment that is a name, the operations that end here."""

    __slots__ = ("fixed", "named", "operations")

    def __init__(self) -> None:
        self.fixed: dict[str, RouteNode] = {}
        self.named: RouteNode | None = None
        self.operations: dict[str, Operation] = {}


class RouteIndex:
    """`guide` writes the help behind a 404: from (path, query) to a sentence, or nothing."""

    def __init__(self, operations: Iterable[Operation], guide: Callable[[str, bytes], str] | None = None) -> None:
        self.root = RouteNode()
        self.operations = tuple(operations)
        self._guide = guide
        # Paths that an object follows.
        self._above_objects = tuple({operation.above_object for operation in self.operations if operation.above_object})
        for operation in self.operations:
            self._plant(operation)

    def _plant(self, operation: Operation) -> None:
        node = self.root
        for segment in segments_of(operation.path):
            if segment.startswith("{"):
                node.named = node.named or RouteNode()
                node = node.named
            else:
                node = node.fixed.setdefault(segment, RouteNode())
        node.operations[operation.method] = operation

    def walk(self, raw_path: str) -> tuple[RouteNode, list[str]] | None:
        """The node of a path below the base and the segments that are names, still encoded; one trailing slash is ignored."""
        if not raw_path.startswith(BASE + "/"):
            return (self.root, []) if raw_path == BASE else None
        node, names = self.root, []
        rest = raw_path[len(BASE) + 1 :]
        if rest.startswith(self._above_objects):
            # Names in an object hold no slash, so that an encoded one parts them, too.
            rest = rest.replace("%2F", "/").replace("%2f", "/")
        for segment in (rest.removesuffix("/")).split("/") if rest else ():
            following = node.fixed.get(segment)
            if following is None:
                if (following := node.named) is None or not segment:
                    return None
                names.append(segment)
            node = following
        return node, names

    def find(self, method: str, raw_path: bytes, query: bytes = b"") -> tuple[Operation, dict[str, str]]:
        """The operation a request asks for and its path values; 404 and 405 say what would be right."""
        text = raw_path.decode("latin-1")
        place = self.walk(text)
        if place is None or not place[0].operations:
            raise self._not_found(unquote(text), query)
        node, names = place
        operation = node.operations.get(method)
        if operation is None:
            raise self._not_allowed(method, text, node)
        return operation, {name: decoded(text) for name, text in zip(operation.names, names, strict=True)}

    def _not_allowed(self, method: str, raw_path: str, node: RouteNode) -> ApiError:
        """The error for a method that a path does not have: the methods it has, and the path beside it that has this one."""
        allowed = [each.upper() for each in METHODS if each.upper() in node.operations]
        path, first = raw_path.removesuffix("/"), ", ".join(allowed[:-1])
        text = f"method {method} is not allowed for path {unquote(raw_path)}, which has {first + ' and ' if first else ''}{allowed[-1]}"
        if node.named and (operation := node.named.operations.get(method)):
            text += f"; did you mean {method} {path}/{segments_of(operation.path)[-1]}?"
        elif next(iter(node.operations.values())).path.endswith("}"):
            collection = path.rpartition("/")[0]
            if (place := self.walk(collection)) and method in place[0].operations:
                text += f"; did you mean {method} {collection}?"
        return ApiError(405, text, headers=[(ALLOW, ", ".join(allowed).encode())])

    def _not_found(self, path: str, query: bytes) -> ApiError:
        if path in (BASE, BASE + "/"):
            return ApiError(404, "no matching operation was found")
        advice = self._guide(path, query) if self._guide else ""
        return ApiError(404, f"path {path} was not found" + (f"; {advice}" if advice else ""))


def segments_of(path: str) -> list[str]:
    return [segment for segment in path.split("/") if segment]


def decoded(segment: str) -> str:
    return unquote(segment, errors="surrogateescape") if "%" in segment else segment
