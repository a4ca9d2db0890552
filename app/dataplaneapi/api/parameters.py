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
    place: str
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

    An empty optional string counts as not sent, except that it is an error in a parameter that restrains a write.
    """
    values: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.place == "path":
            values[parameter.name] = _convert(parameter, path[parameter.name])
        elif parameter.place == "query":
            _convert_query(parameter, query.get(parameter.name, []), values)
        else:
            _convert_header(parameter, headers, values)
    return values


def check(
    parameters: Iterable[Parameter], values: Mapping[str, Any], is_known: Callable[[Parameter], bool] = lambda parameter: False
) -> None:
    """Raise ApiError (400) for a value that violates pattern, enum, limits or format of its parameter.

    A parameter for which `is_known` returns True has a value that exists already, which may violate them.
    """
    for parameter in parameters:
        sent = values.get(parameter.name)
        for value in sent if isinstance(sent, list) else [] if sent is None else [sent]:
            if (reason := _violation(parameter, value)) and not is_known(parameter):
                raise ApiError(400, f"{parameter.name} in {parameter.place}: {reason}")


def _convert_query(parameter: Parameter, sent: list[str], values: dict[str, Any]) -> None:
    if not sent:
        if parameter.required:
            raise ApiError(400, f"Query argument {parameter.name} is required, but not found")
    elif parameter.repeated:
        values[parameter.name] = [_convert(parameter, item) for text in sent for item in text.split(",") if item]
    elif len(sent) > 1:
        raise ApiError(400, f"Invalid format for parameter {parameter.name}: multiple values for single value parameter '{parameter.name}'")
    elif sent[0] or parameter.required or parameter.kind not in ("string", DURATION):
        values[parameter.name] = _convert(parameter, sent[0])
    elif parameter.guards:
        raise ApiError(400, f"{parameter.name} in query is empty: give it a value, or leave it out")


def _convert_header(parameter: Parameter, headers: Iterable[tuple[bytes, bytes]], values: dict[str, Any]) -> None:
    wanted = parameter.name.lower().encode()
    sent = [value.decode("latin-1") for name, value in headers if name == wanted]
    if len(sent) > 1:
        raise ApiError(400, f"Expected one value for {parameter.name}, got {len(sent)}")
    if sent:
        values[parameter.name] = _convert(parameter, sent[0])
    elif parameter.required:
        raise ApiError(400, f"Header parameter {parameter.name} is required, but not found")


def _convert(parameter: Parameter, text: str) -> Any:
    if parameter.kind == "string":
        return text
    if parameter.kind == DURATION:
        return _duration(parameter, text)
    value = BOOLEANS.get(text) if parameter.kind == "boolean" else _integer(text)
    if value is None:
        wanted = "one of true, false, 1, 0, t, f" if parameter.kind == "boolean" else "an integer of 64 bits"
        raise ApiError(400, f'Invalid format for parameter {parameter.name}: "{text}" is not {wanted}')
    return value


def _duration(parameter: Parameter, text: str) -> float:
    try:
        return seconds(text)
    except ValueError as error:
        raise ApiError(400, f"Invalid format for parameter {parameter.name}: {error}") from None


def _integer(text: str) -> int | None:
    if not _INTEGER.fullmatch(text) or len(text) > 20:
        return None
    value = int(text)
    return value if -_INT64 <= value < _INT64 else None


def _violation(parameter: Parameter, value: Any) -> str | None:
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
    """Return whether a text matches a pattern of the document. `$` does not match before a final line break, and `\\d` is ASCII only."""
    return _compiled(pattern).search(text) is not None


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\$$", r"\\Z", pattern), re.ASCII)
