"""Validate a normalized body against the generated model of its schema, with our own error messages instead of pydantic's.

An error reports all violations, one per line, in alphabetical order of the members. Of a list or map, it reports only the violations of the
first invalid element.

The patterns and enums of the document are stricter than HAProxy. They apply to new values only. A value that the present object already has
is valid, because HAProxy has loaded it.
"""

import functools
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.normalize import ABSENT, NormalizedBody, ResolvedSchemas
from dataplaneapi.api.parameters import matches
from dataplaneapi.did_you_mean import nearest
from haproxy_native.grammar.codecs import CODECS
from haproxy_native.grammar.schema import name_of
from haproxy_native.grammar.synopsis import Composed
from haproxy_native.models import model
from haproxy_native.text.words import has_quotes, has_variable, is_word, with_variables


def with_sent_zeros(body: Any, sent: Any, current: Any) -> Any:
    """Restore in a normalized body the zeros (0, false, "") that the body as sent and the current object both have. Return the result.

    Normalization drops zeros, because a zero usually means that the member is absent. A zero that the object already has is a value, and a
    client that sends the object back must not delete it.
    """
    if isinstance(body, dict) and isinstance(sent, Mapping) and isinstance(current, Mapping):
        restored = {name: with_sent_zeros(element, sent.get(name), current.get(name)) for name, element in body.items()}
        for name, value in sent.items():
            is_zero, current_value = isinstance(value, (int, float, str)) and not value, current.get(name)
            if name not in body and is_zero and type(current_value) is type(value) and current_value == value:
                restored[name] = value
        return restored
    if isinstance(body, list) and isinstance(sent, list) and isinstance(current, list) and len(body) == len(sent) and has_zero(sent):
        # An element is compared with the equal current element, or else with the current element at the same position.
        by_content = {json.dumps(element, sort_keys=True): element for element in current}
        by_position = [*current, *[None] * len(sent)]
        counterparts = [by_content.get(json.dumps(each, sort_keys=True), by_position[index]) for index, each in enumerate(sent)]
        return [with_sent_zeros(*elements) for elements in zip(body, sent, counterparts, strict=True)]
    return body


def has_zero(sent: Any) -> bool:
    """Return whether the value is or contains 0, false or ""."""
    if isinstance(sent, (Mapping, list)):
        return any(map(has_zero, sent.values() if isinstance(sent, Mapping) else sent))
    return isinstance(sent, (int, float, str)) and not sent


def rebased(body: Any, before: Any, after: Any) -> Any:
    """Return the body of a PUT that renames an object, with the members that the client has not changed taken from `after`.

    `before` and `after` are the object before and after the renaming, which also changes members that refer to the object itself.
    """
    if body == before:
        return after
    if isinstance(body, dict) and isinstance(before, Mapping) and isinstance(after, Mapping):
        both = before.keys() & after.keys()
        return {name: rebased(value, before[name], after[name]) if name in both else value for name, value in body.items()}
    if isinstance(body, list) and isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        by_content = {json.dumps(old, sort_keys=True): new for old, new in zip(before, after, strict=True)}
        return [by_content.get(json.dumps(element, sort_keys=True), element) for element in body]
    return body


def merged(current: Any, patch: Any) -> Any:
    """Return the current value after a merge patch (RFC 7396): null removes a member, and lists are replaced. Modify neither."""
    if not isinstance(patch, Mapping):
        return patch
    merged_value = dict(current) if isinstance(current, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            merged_value.pop(name, None)
        else:
            merged_value[name] = merged(merged_value.get(name), value)
    return merged_value


def without_stale(current: Mapping[str, Any], patch: Mapping[str, Any], aliases: Mapping[str, str]) -> dict[str, Any]:
    """Return the current object without the members that a patch makes stale.

    `aliases` maps a member to the list whose first element the member repeats. If the patch contains only one of the two, the other is
    stale.
    """
    pairs = [*aliases.items(), *((target, alias) for alias, target in aliases.items())]
    stale = {other for patched, other in pairs if patched in patch and other not in patch}
    return {name: value for name, value in current.items() if name not in stale}


# The most violations in one response.
MOST = 100
# The most elements of a list or map that one call of a model validates.
AT_ONCE = 32
Location = tuple[Any, ...]
_BLANK = re.compile(r"[ \t]")
# A longer message is split into lines, because the first line of an error has at most 300 characters.
LONG = 200
_TEXTS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "missing": lambda limits: "is required",
    "string_pattern_mismatch": lambda limits: f"should match '{limits['pattern']}'",
    "greater_than_equal": lambda limits: f"should be greater than or equal to {limits['ge']}",
    "less_than_equal": lambda limits: f"should be less than or equal to {limits['le']}",
    "string_too_short": lambda limits: f"should be at least {limits['min_length']} chars long",
    "string_too_long": lambda limits: f"should be at most {limits['max_length']} chars long",
    "too_short": lambda limits: f"should have at least {limits['min_length']} items",
    "too_long": lambda limits: f"should have at most {limits['max_length']} items",
}


def validated(
    value: Any,
    schema: Mapping[str, Any],
    schemas: ResolvedSchemas,
    *,
    unwritable: int = 422,
    unknown: Callable[[NormalizedBody], Iterable[str]] = lambda body: (),
    present: Callable[[], Any] = lambda: None,
    optional: Callable[[Location], bool] = lambda path: False,
) -> Any:
    """Return the body as plain data, normalized and validated.

    `unknown` returns messages about unknown members. `present` returns the value that the body replaces, and is called only if there are
    violations. `optional` returns whether the member at a path may be missing although its schema requires the member.

    Raises ApiError: 400 for wrong types, the status `unwritable` for texts that no line of a file can contain, 422 for any other violation.
    If the document declares the schema inline in the operation, wrong types are 422 too.
    """
    body = _normalize(value, schema, schemas)
    violated = _inline_violations(body, schema) if "properties" in schema else violations(body, schema, schemas, present, optional)
    _raise_if_wrong([*violated, *body.misnamed, *unknown(body)], body, unwritable)
    return body.value


def validated_patch(
    value: Mapping[str, Any],
    schema: Mapping[str, Any],
    schemas: ResolvedSchemas,
    *,
    unwritable: int = 422,
    unknown: Callable[[NormalizedBody], Iterable[str]] = lambda body: (),
) -> Any:
    """Return the body of a PATCH with its members named as in the schema, including members that are null. Raises ApiError.

    Only types and names are checked. All other constraints are checked after the patch is merged into the object.
    """
    body = _normalize(value, schema, schemas)
    body.value = dict.fromkeys(value) | body.value
    _raise_if_wrong([*body.misnamed, *unknown(body)], body, unwritable)
    return schemas.with_declared_names(value, schema)


def _normalize(value: Any, schema: Mapping[str, Any], schemas: ResolvedSchemas) -> NormalizedBody:
    body = schemas.normalize(value, schema)
    if body.mistyped:
        mistyped = body.mistyped[:MOST]
        apart = "; " if sum(map(len, mistyped)) <= LONG else "\n"
        raise ApiError(422 if "properties" in schema else 400, "failed to decode request body: " + apart.join(mistyped))
    if body.oversized:
        raise ApiError(422, "\n".join(body.oversized[:MOST]))
    return body


def _raise_if_wrong(wrong: Iterable[str], body: NormalizedBody, unwritable: int) -> None:
    texts = dict.fromkeys(wrong)
    if texts or body.unwritable:
        raise ApiError(422 if texts else unwritable, "\n".join([*texts, *body.unwritable]))


def check_outermost(value: Any, schema: Mapping[str, Any], schemas: ResolvedSchemas) -> None:
    """Raise ApiError (422) if the body is null, or is not the object or array that its schema declares."""
    kind = schemas.kind(schema)
    if value is None:
        raise ApiError(422, f"Value is not nullable; send {'an array' if kind == 'array' else 'an object'}")
    if kind in ("array", "object") and not isinstance(value, list if kind == "array" else dict):
        raise ApiError(422, f"value must be {'an array' if kind == 'array' else 'an object'}, not {str(value)[:80]!r}")


def _inline_violations(body: NormalizedBody, schema: Mapping[str, Any]) -> Iterable[str]:
    for name, declared in schema["properties"].items():
        value, pattern = body.value.get(name), None if declared.get("x-existing") else declared.get("pattern")
        if value is None and name in schema.get("required", ()):
            reason = "value must not be empty" if _is_sent_empty((name,), body) else f'property "{name}" is missing'
            yield f'Error at "/{name}": {reason}'
        elif value is not None and pattern and not matches(pattern, value):
            yield f'Error at "/{name}": string doesn\'t match the regular expression "{pattern}"'


def violations(
    body: NormalizedBody,
    schema: Mapping[str, Any],
    schemas: ResolvedSchemas,
    present: Callable[[], Any] = lambda: None,
    optional: Callable[[Location], bool] = lambda path: False,
) -> Iterable[str]:
    """Yield a message for each violation of the model. Omit violations that the present object has too."""
    whole = schemas.resolve(schema)
    is_list = schemas.kind(schema) == "array"
    name = name_of(whole.get("items", {}) if is_list else schema)
    if name is None:
        return
    present_object = functools.cache(present)

    def is_new(error: Mapping[str, Any]) -> bool:
        path, is_missing = tuple(error["loc"]), error["type"] == "missing"
        if is_missing and optional(path):
            return False
        value = _value_at(body.value, path)
        if value in _present_values(present_object(), path):
            return False
        if error["type"] == "string_pattern_mismatch":
            return not fits_as_word(value, str(error["ctx"]["pattern"]))
        return not is_missing or not _is_in_address(body.value, path, schema, schemas)

    for index, value in enumerate(body.value) if is_list else [(None, body.value)]:
        prefix = () if index is None else (index,)
        errors = _new_errors(name, value, schema, schemas, prefix, is_new)
        yield from (_message(tuple(error["loc"]), error, schema, schemas, body) for error in errors)
        if is_list and errors:
            return


def fits_as_word(value: Any, pattern: str) -> bool:
    """Return whether a text is one word of HAProxy that fits a pattern when its blanks and variables in quotes are disregarded.

    The patterns exclude blanks and variables because they are not allowed outside quotes. HAProxy would split the line at a blank.
    """
    if not isinstance(value, str) or not has_quotes(value) or not is_word(value):
        return False
    return matches(pattern, _BLANK.sub("_", value)) or (has_variable(value) and matches(pattern, with_variables(value, "_")))


def _is_in_address(value: Any, path: Location, schema: Mapping[str, Any], schemas: ResolvedSchemas) -> bool:
    """Return whether a missing member, such as a port, is or may be part of the value of another member, such as an address."""
    *parent, member = path
    declared = list(schemas.at(schema, tuple(parent)))[-1].get("properties", {})
    codecs = [(name, CODECS.get(each.get("x-haproxy", {}).get("codec", ""))) for name, each in declared.items()]
    object_ = _value_at(value, tuple(parent))
    addresses = [(object_.get(name), node) for name, codec in codecs if codec and isinstance(node := codec(name), Composed)]
    # Only HAProxy knows what a variable contains.
    return any(has_variable(str(text)) or member in node.meant(object_) for text, node in addresses)


def _present_values(present: Any, path: Location) -> list[Any]:
    """Return the values of the present object at a path. If the path passes through a list, return the values of all its elements.

    The result contains ABSENT if a value is missing or a zero, because normalization drops zeros.
    """
    if not path:
        return [present] if present else [present, ABSENT]
    step, *rest = path
    if isinstance(present, list):
        return [each for element in present for each in _present_values(element, tuple(rest))]
    if not isinstance(present, dict) or (step not in present and rest):
        return []
    return _present_values(present.get(step, ABSENT), tuple(rest))


def _split_large(value: Any, schema: Mapping[str, Any], schemas: ResolvedSchemas) -> tuple[Any, list[tuple[Location, str, Any]]]:
    """Return the value with its lists and maps truncated to AT_ONCE elements, and the other elements as (location, schema name, element).

    A model validates in one call of native code, which blocks the event loop, and a section may have thousands of elements.
    """
    rest: list[tuple[Location, str, Any]] = []
    own = dict(value) if isinstance(value, dict) else value
    members = schemas.resolve(schema).get("properties", {}) if isinstance(value, dict) else {}
    for member, collection in value.items() if members else ():
        if not isinstance(collection, dict | list) or len(collection) <= AT_ONCE:
            continue
        declared = schemas.resolve(members.get(member, {}))
        element = declared.get("items") or declared.get("additionalProperties")
        if isinstance(element, Mapping) and (name := name_of(element)):
            pairs = list(collection.items()) if isinstance(collection, dict) else list(enumerate(collection))
            own[member] = dict(pairs[:AT_ONCE]) if isinstance(collection, dict) else collection[:AT_ONCE]
            rest += [((member, key), name, element) for key, element in pairs[AT_ONCE:]]
    return own, rest


def _new_errors(
    name: str,
    value: Any,
    schema: Mapping[str, Any],
    schemas: ResolvedSchemas,
    prefix: Location,
    is_new: Callable[[Mapping[str, Any]], bool],
) -> list[Any]:
    """Return the new violations of the model `name`, each with its location in the whole body, sorted by location.

    `prefix` is the location of the value in the body. Of each list or map, return only the violations of the first invalid element.
    """
    whole = schemas.resolve(schema)
    own, rest = _split_large(value, whole.get("items", {}) if prefix else schema, schemas)
    errors: list[Any] = []
    for location, element, part in [((), name, own), *rest]:
        try:
            model(element).model_validate(part, strict=True)
        except ValidationError as invalid:
            for error in invalid.errors(include_url=False, include_input=False):
                located = {**error, "loc": (*prefix, *location, *_location_in(part, error["loc"]))}
                if is_new(located):
                    errors.append(located)
        if len(errors) > MOST:
            break
    first_elements: dict[Location, Any] = {}
    first_errors = []
    for error in errors:
        path = error["loc"]
        passed = list(schemas.at(schema, path))
        collections = [(path[:depth], path[depth]) for depth in range(len(prefix), len(path)) if "properties" not in passed[depth]]
        if all(first_elements.setdefault(collection, element) == element for collection, element in collections):
            first_errors.append(error)
    return sorted(first_errors, key=lambda error: [str(step) for step in error["loc"]])


def _location_in(value: Any, path: Location) -> Location:
    """Return the location of an error with the names that the value has. Pydantic replaces bytes in names that are not UTF-8 by U+FFFD."""
    location: list[str | int] = []
    for step in path:
        if isinstance(value, dict) and step not in value and "\ufffd" in str(step):
            step = next((name for name in value if name.encode("utf-8", "surrogatepass").decode("utf-8", "replace") == step), step)
        location.append(step)
        value = value[step] if isinstance(value, list) and isinstance(step, int) else value.get(step) if isinstance(value, dict) else None
    return tuple(location)


def _message(path: Location, error: Mapping[str, Any], schema: Mapping[str, Any], schemas: ResolvedSchemas, body: NormalizedBody) -> str:
    """Return the message for an error, with the word or member that the client may have meant.

    If an enum has many words, they follow on a second line.
    """
    declared = list(schemas.at(schema, path))[-1]
    name = ".".join(map(str, path))
    kind = error["type"]
    if kind in ("literal_error", "enum"):
        words, sent = [str(choice) for choice in declared.get("enum", ())], _value_at(body.value, path)
        text = f"{name} in body should be one of [{' '.join(words)}]"
        likely = nearest(sent[:64], words) if isinstance(sent, str) else None
        hint = f'; did you mean "{likely}"?' if likely else ""
        if len(text) <= LONG:
            return text + hint
        return f'{name[-100:]} in body is "{str(sent)[:64]}", which is none of its {len(words)} words{hint}\n{text}'
    write = _TEXTS.get(kind)
    violation = write({**declared, **error.get("ctx", {})}) if write else f"is wrong: {error['msg']}"
    if kind == "missing" and _is_sent_empty(path, body):
        violation += " and must not be empty"
    elif kind == "missing":
        missing = str(path[-1])
        unknown = body.unknown.get(".".join(map(str, path[:-1])), set())
        if likely := next((each for each in sorted(unknown) if nearest(each, [missing])), None):
            violation += f' (there is "{likely}", which is not known; did you mean "{missing}"?)'
    return f"{name} in body {violation}"


def _is_sent_empty(path: Location, body: NormalizedBody) -> bool:
    """Return whether the body, as sent, has an empty text at a path. Such a text is dropped by normalization."""
    try:
        return bool(functools.reduce(lambda value, step: value[step], path, body.sent) == "")
    except (LookupError, TypeError):
        return False


def _value_at(value: Any, path: Location) -> Any:
    for step in path:
        value = value[step] if isinstance(value, list) else value.get(step, ABSENT)
    return value
