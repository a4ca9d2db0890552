"""Convert path, query and header parameters to values, and check the values, as the document declares them.

`convert` and `check` are separate because the Data Plane API, whose errors clients expect, checks `Accept` between the two steps.
"""

import functools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from dataplaneapi.api.errors import ApiError
from dataplaneapi.settings.quantities import seconds
from haproxy_native.editing import object_names
from haproxy_native.errors import BadRequest

_INTEGER = re.compile(r"[+-]?[0-9]+")
# The most parameters of a query.
MOST = 1000
DURATION = "duration"
# The functions that check the formats of object names. They raise BadRequest.
_OBJECTS: Mapping[str, Callable[[str], object]] = {"object_name": object_names.parsed, "object_pattern": object_names.check_pattern}
_INT64 = 1 << 63
BOOLEANS = dict.fromkeys("1 t T TRUE true True".split(), True) | dict.fromkeys("0 f F FALSE false False".split(), False)


@dataclass(frozen=True)
class Parameter:
    """A parameter as the document declares it."""

    name: str
    # `path`, `query` or `header`.
    location: str
    required: bool = False
    # The type of the schema, or DURATION. The value of a duration is in seconds.
    kind: str = "string"
    pattern: str | None = None
    choices: tuple[Any, ...] = ()
    minimum: float | None = None
    # The longest duration in seconds.
    longest: float | None = None
    repeated: bool = False
    # Whether the parameter restrains a write. Then an empty value, which a script sends for an unset variable, is an error.
    guards: bool = False
    format: str = ""

    @classmethod
    def of(cls, declared: Mapping[str, Any]) -> "Parameter":
        schema = declared.get("schema", {})
        repeated = schema.get("type") == "array"
        inner = schema.get("items", {}) if repeated else schema
        return cls(
            declared["name"],
            declared["in"],
            declared.get("required", False),
            DURATION if inner.get("format") == DURATION else inner.get("type", "string"),
            None if inner.get("x-existing") else inner.get("pattern"),
            tuple(inner.get("enum", ())),
            inner.get("minimum"),
            inner.get("x-longest"),
            repeated,
            # An empty transaction_id, which has "everywhere", counts as not sent, as in the Data Plane API.
            declared.get("x-guards") == "here",
            inner.get("format", ""),
        )


def query_values(query: bytes) -> dict[str, list[str]]:
    """Return all values of each parameter in a query, as sent."""
    values: dict[str, list[str]] = {}
    if not query:
        return values
    for name, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True, errors="surrogateescape"):
        values.setdefault(name, []).append(value)
    return values


def check_number(query: bytes) -> None:
    """Raise ApiError (400) for a query with too many parameters."""
    if query.count(b"&") >= MOST:
        raise ApiError(400, f"a query has at most {MOST} parameters")


def convert(
    parameters: Iterable[Parameter], path: Mapping[str, str], query: Mapping[str, list[str]], headers: Iterable[tuple[bytes, bytes]]
) -> dict[str, Any]:
    """Return the values of the parameters that were sent, by name. Raises ApiError (400).

    An empty optional string counts as not sent. In a parameter that restrains a write, it is an error.
    """
    values: dict[str, Any] = {}
    for parameter in parameters:
        name = parameter.name
        if parameter.location == "path":
            values[name] = _convert(parameter, path[name])
        elif parameter.location == "query":
            sent = query.get(name, [])
            if not sent and parameter.required:
                raise ApiError(400, f"Query argument {name} is required, but not found")
            if parameter.repeated and sent:
                values[name] = [_convert(parameter, item) for text in sent for item in text.split(",") if item]
            elif len(sent) > 1:
                raise ApiError(400, f"Invalid format for parameter {name}: multiple values for single value parameter '{name}'")
            elif sent and (sent[0] or parameter.required or parameter.kind not in ("string", DURATION)):
                values[name] = _convert(parameter, sent[0])
            elif sent and parameter.guards:
                raise ApiError(400, f"{name} in query is empty: give it a value, or leave it out")
        else:
            key = name.lower().encode()
            sent = [value.decode("latin-1") for sent_name, value in headers if sent_name == key]
            if len(sent) > 1:
                raise ApiError(400, f"Expected one value for {name}, got {len(sent)}")
            if sent:
                values[name] = _convert(parameter, sent[0])
            elif parameter.required:
                raise ApiError(400, f"Header parameter {name} is required, but not found")
    return values


def check(
    parameters: Iterable[Parameter], values: Mapping[str, Any], is_known: Callable[[Parameter], bool] = lambda parameter: False
) -> None:
    """Raise ApiError (400) for a value that violates pattern, enum, limits or format of its parameter.

    Ignore the violation if `is_known` returns True for the parameter, because its value is the name of an existing object.
    """
    for parameter in parameters:
        sent = values.get(parameter.name)
        for value in sent if isinstance(sent, list) else [] if sent is None else [sent]:
            if (reason := _violation(parameter, value)) and not is_known(parameter):
                raise ApiError(400, f"{parameter.name} in {parameter.location}: {reason}")


def _convert(parameter: Parameter, text: str) -> Any:
    """Return the value of a text that was sent for a parameter. Raises ApiError (400)."""
    if parameter.kind == "string":
        return text
    if parameter.kind == DURATION:
        try:
            return seconds(text)
        except ValueError as error:
            raise ApiError(400, f"Invalid format for parameter {parameter.name}: {error}") from None
    if parameter.kind == "boolean":
        if text not in BOOLEANS:
            raise ApiError(400, f'Invalid format for parameter {parameter.name}: "{text}" is not one of true, false, 1, 0, t, f')
        return BOOLEANS[text]
    if not _INTEGER.fullmatch(text) or len(text) > 20 or not -_INT64 <= int(text) < _INT64:
        raise ApiError(400, f'Invalid format for parameter {parameter.name}: "{text}" is not an integer of 64 bits')
    return int(text)


def _violation(parameter: Parameter, value: Any) -> str | None:
    """Return why a value is not allowed for a parameter, or None if the value is allowed."""
    if parameter.pattern is not None and not matches(parameter.pattern, value):
        return f'string doesn\'t match the regular expression "{parameter.pattern}"'
    if parameter.choices and value not in parameter.choices:
        return "value is not one of the allowed values [" + ",".join(f'"{choice}"' for choice in parameter.choices) + "]"
    if parameter.minimum is not None and value < parameter.minimum:
        return f"number must be at least {parameter.minimum:g}"
    if parameter.longest is not None and value > parameter.longest:
        return f"{value:g} seconds exceed the maximum of {parameter.longest:g}"
    if check := _OBJECTS.get(parameter.format):
        try:
            check(value)
        except BadRequest as error:
            return error.detail
    return None


def matches(pattern: str, text: str) -> bool:
    """Return whether a text matches a pattern of the document. `$` matches only at the end of the text, and `\\d` only ASCII digits."""
    return _compiled(pattern).search(text) is not None


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\$$", r"\\Z", pattern), re.ASCII)
