"""Replace secrets in texts and objects by `<masked>`, and refuse masked texts that clients send back. Pure.

Members, words and lines that no schema declares are masked. Of the members that openapi/schemas declares, only those with `x-secret` are
masked, unless haproxy_native/editing/secret_kinds.py decides that the text is harmless. In a text, the schema of each kind of line
determines which member a word belongs to. A commented-out line is masked like the line itself, and a comment that mentions credentials is
masked as a whole. Other comments and metadata are shown. The checksum line is removed, because it would help to guess a short password.
"""

import functools
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from haproxy_native.editing.header import BANNER, without_checksum
from haproxy_native.editing.object_names import kind_of, parsed
from haproxy_native.editing.resources import Resource, resources
from haproxy_native.editing.secret_kinds import is_shown
from haproxy_native.errors import BadRequest, Incomplete
from haproxy_native.grammar.line_shape import LineReading, LineShape
from haproxy_native.grammar.load import Grammar, bundle, grammar
from haproxy_native.grammar.schema import Schema
from haproxy_native.grammar.synopsis import Chain, MatchedWords, Node, Options, Placeholder, Rest
from haproxy_native.text.pieces import split_lines
from haproxy_native.text.words import BLANKS, SplitLine, split, unquoted, words_of

MASKED = "<masked>"
# Kinds of `x-secret` for texts: lines of a configuration, a text that may quote such lines, and a message of HAProxy.
LINES, TEXT, MESSAGE = "lines", "text", "message"
# The member of an effect that contains the lines of a section that no object can express.
_UNKNOWN_LINES = "lines"
# Schemas of servers in the running process.
_OF_PROCESS = ("runtime_server", "override")
_VERSION = re.compile(r"# _version=\d+\s*")
_BARE_WORD = re.compile(r"[^\s'`\"]+")
# A longer line of a message is truncated at the first word that may precede a secret, because testing all such words would take too long.
_LONGEST = 1000
_NEGATIONS = ("no", "default")
# Signs of a message of HAProxy, or of an error that quotes such a message.

_OF_HAPROXY = re.compile(r"\[(?:ALERT|WARNING|NOTICE|DIAG)\]|\bvalidation error: |\[[^\[\]\s]+:\d+\]|\bline \d+(?: of \S+,)? in '")
# A closed quote, or the beginning of any quote.
_QUOTE = re.compile(r"(?<!\w)'([^']*)'|(?<!\w)(?:'|<(?!masked>)(?=\S))")
# The text before the line of the configuration that a message quotes.
_SOURCE = re.compile(r"line \d+ in '[^']*': ")
# The text before the quoted name of a section or an ACL.
_NAMED = re.compile(r"\b(?:ACL|acl|proxy|backend|frontend|listen|defaults|userlist|peers|resolvers) $")
_SERVER = re.compile(r"server [\w.:-]+/[\w.:-]+")
# Words in comments that mention credentials.
_CREDENTIAL = re.compile(r"passw|secret|token|credential|bearer|authori[sz]ation|api.?key", re.IGNORECASE)


# -- texts


def masked_lines(text: str) -> str:
    """Return lines of a configuration, or a unified diff, with secrets masked."""
    if text.startswith("--- "):
        return "".join(_difference_lines(text))
    return "".join(map(_masked_line, split_lines(without_checksum(text))))


def _difference_lines(text: str) -> Iterator[str]:
    """Yield the masked lines of a unified diff. Diffs of files other than the configuration may quote lines of the configuration."""
    walk: Callable[[str], str] = _masked_line
    for line in split_lines(text):
        if line.startswith("--- "):
            walk = masked_text if _is_of_file(line[4:]) else _masked_line
        if line.startswith(("--- ", "+++ ", "@@ ", "\\ ")):
            yield line
        elif not line[1:].startswith("# _md5hash="):
            yield line[:1] + walk(line[1:])


@functools.lru_cache(maxsize=1 << 14)
def _masked_line(line: str) -> str:
    if not (words := words_of(line)) and (not line.strip() or line in BANNER or _VERSION.fullmatch(line)):
        return line
    if not (hidden := _hidden(words)) and "#" not in line and "\r" not in line:
        return line
    return _without(split(line), hidden)


def _without(parts: SplitLine, hidden: Collection[int]) -> str:
    shown = (MASKED if at in hidden else word for at, word in enumerate(parts.words))
    bare = parts.tail.strip(BLANKS + "\n")
    comment = bare.lstrip("# \t")
    if not bare.startswith("#"):
        comment, masked = bare, f"# {MASKED}"
    elif _CREDENTIAL.search(comment):
        masked = MASKED
    elif (words := words_of(comment)) and words[0] in _first_words():
        masked = _masked_line(comment)
    else:
        masked = comment
    return SplitLine(parts.gaps, tuple(shown), parts.tail.replace(comment, masked) if comment else parts.tail).join()


def masked_text(text: str) -> str:
    """Return a text that may quote lines of a configuration, with secrets masked."""
    return "".join(_masked_quotes(line) for line in split_lines(text))


def masked_message(text: str) -> str:
    """Return a message of HAProxy with its quoted texts masked, except keywords and names of sections, ACLs and servers."""
    return "".join(map(_masked_message_line, split_lines(text)))


def _masked_message_line(line: str) -> str:
    if source := _SOURCE.match(line):
        return source[0] + _masked_line(line[source.end() :])
    return _without_quotes(_masked_quotes(line))


def _without_quotes(line: str) -> str:
    # Quoted words may contain quotes, so everything from the first masked quote to the last one in the line is masked.
    for found in _QUOTE.finditer(line):
        begin, quoted = found.start(), found[1]
        if quoted is None or not (_is_public_quote(quoted) or _NAMED.search(line, max(0, begin - 20), begin)):
            end = max(line.rfind("'"), line.rfind(">"))
            # The message may be truncated within a quote.
            is_closed = end > begin and line[end + 1 : end + 2] in '\n .,:;)]"' and "<" not in line[end:]
            return f"{line[:begin]}'{MASKED}'{line[end + 1 :] if is_closed else line[len(line.rstrip()) :]}"
    return line


def _is_public_quote(quoted: str) -> bool:
    words = words_of(quoted)
    if len(words) > 1 and words[0] in _sections():
        return not _hidden(words)
    return bool(_SERVER.fullmatch(quoted)) or all(word in _keywords() for word in words)


def _masked_quotes(line: str) -> str:
    for found in _BARE_WORD.finditer(line):
        if found[0] in _secret_words():
            if len(line) > _LONGEST:
                return f"{line[: found.start()]}{MASKED}"
            parts = split(line[found.start() :])
            found_secrets = ((set(_secrets(shape, reading, parts.words)), reading) for shape, reading in _readings(parts.words))
            if hidden := {place for secrets, reading in found_secrets if secrets for place in (*secrets, *reading.unknown)}:
                return line[: found.start()] + _without(parts, hidden)
    return line


def _hidden(words: Sequence[str]) -> set[int]:
    """Return the indices of the words to mask in a line."""
    if not words:
        return set()
    readings = list(_readings(words))
    if complete := [reading for reading in readings if not reading[1].unknown]:
        return {place for shape, reading in complete for place in _secrets(shape, reading, words)}
    if readings:
        return {place for shape, reading in readings for place in (*_secrets(shape, reading, words), *reading.unknown)}
    if words[0] in _NEGATIONS and words[1:]:
        return {place + 1 for place in _hidden(words[1:])}
    return set(range(1, len(words)))


def _readings(words: Sequence[str]) -> Iterator[tuple[LineShape, LineReading]]:
    """Yield (shape, reading) for every possible reading of a line whose section is unknown."""
    for size in range(min(_longest(), len(words)), 0, -1):
        for shape in shapes().get(tuple(map(unquoted, words[:size])), ()):
            if reading := shape.parse_words(words):
                yield shape, reading


def _secrets(shape: LineShape, reading: LineReading, words: Sequence[str]) -> Iterator[int]:
    """Yield the indices of the words that contain a secret."""
    if not any(member in reading.values or member.split(".")[0] in reading.values for member in shape.secrets):
        return
    seen: dict[str, Any] = dict(reading.values)
    for node, start, end in _pieces(reading.alternative.chain, words, reading.parts):
        match = node.match(words[start:end], 0)
        seen |= match[1] if match else {}
        for member in node.members:
            kind = shape.secrets.get(member)
            prefix = member.rpartition(".")[0]
            if kind and member in seen and not is_shown(kind, " ".join(words[start:end]), seen, prefix and f"{prefix}."):
                starts = () if isinstance(node, Placeholder | Rest) else node.starts() or ()
                yield from (at for at in range(start, end) if at > start or unquoted(words[at]) not in starts)


def _pieces(chain: Chain, words: Sequence[str], parts: Sequence[MatchedWords], offset: int = 0) -> Iterator[tuple[Node, int, int]]:
    """Yield (node, start, end) for each node of a chain that has matched words; the range refers to `words`."""
    for part in parts:
        if part.key is None:
            continue
        node = chain.nodes[part.key[0]]
        if not isinstance(node, Options):
            yield node, offset + part.start, offset + part.end
            continue
        own = words[offset + part.start : offset + part.end]
        if isinstance(part.by, Chain):
            yield from _pieces(part.by, words, part.by.parts(own) or (), offset + part.start)


@functools.cache
def shapes() -> Mapping[tuple[str, ...], Sequence[LineShape]]:
    """Return the shapes of all lines by the first words of the line. Shapes with the same synopses and secrets are returned only once."""
    by_prefix: dict[tuple[str, ...], dict[object, LineShape]] = {}
    for shape in line_shapes(grammar()):
        key = (*(each.text for each in shape.alternatives), *shape.secrets.items())
        for prefix in shape.prefixes():
            by_prefix.setdefault(prefix, {})[key] = shape
    return {prefix: tuple(each.values()) for prefix, each in by_prefix.items()}


@functools.cache
def _longest() -> int:
    return max(map(len, shapes()))


@functools.cache
def _first_words() -> frozenset[str]:
    """Return the first words of all lines."""
    return frozenset({*(prefix[0] for prefix in shapes() if prefix), *_NEGATIONS})


@functools.cache
def _keywords() -> frozenset[str]:
    return frozenset({*(word for prefix in shapes() for word in prefix), *_NEGATIONS})


@functools.cache
def _sections() -> frozenset[str]:
    return frozenset(resource.section for resource in resources().by_name.values())


@functools.cache
def _secret_words() -> frozenset[str]:
    """Return the first words of lines that may contain a secret."""
    return frozenset(prefix[0] for prefix, each in shapes().items() if prefix and any(shape.secrets for shape in each))


def line_shapes(language: Grammar) -> Iterator[LineShape]:
    for resource in resources().by_name.values():
        if resource.section:
            shape = language.section(resource.schema, [member for member, _ in resources().children(resource.name)])
            yield shape.header
            yield from (directive.shape for directive in shape.directives)
        elif resource.parents:
            yield language.line(resource.schema)


# -- masked texts that clients send


def refuse_masked_text(text: bytes) -> None:
    """Raise Incomplete if a text of a configuration has the word `<masked>` outside comments. The error names the line."""
    if MASKED.encode() not in text:
        return
    for number, line in enumerate(text.decode("utf-8", "surrogateescape").split("\n"), 1):
        if MASKED in line and MASKED in map(unquoted, words_of(line)):
            raise _masked_again(f"line {number}")


def refuse_masked(sent: Any, schema: Schema) -> None:
    """Raise Incomplete if a value has `<masked>` in a member that may contain a secret. The error names the member."""
    for member, value, kind in _secret_texts(sent, schema, "", None):
        if kind == LINES:
            refuse_masked_text(value.encode("utf-8", "surrogatepass"))
        elif kind not in (TEXT, MESSAGE) and MASKED in value:
            raise _masked_again(member or "body")


def _secret_texts(value: Any, schema: Schema, path: str, kind: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield (member, text, `x-secret`) for each text that may be a secret. `kind`: the `x-secret` of the member that contains the value."""
    schemas = grammar().schemas
    schema = schemas.resolve(schema)
    kind = schema.get("x-secret", kind)
    if kind in schemas.by_name:
        schema, kind = schemas.named(kind), None
    if isinstance(value, str) and kind not in (None, False):
        yield path, value, kind
    elif isinstance(value, list):
        for at, each in enumerate(value):
            yield from _secret_texts(each, schema.get("items", schema), f"{path}.{at}" if path else str(at), kind)
    elif isinstance(value, Mapping) and schema.get("type") == "array":
        yield from _secret_texts(value, schema.get("items", {}), path, kind)
    elif isinstance(value, Mapping):
        properties, others = _properties(schema), schema.get("additionalProperties")
        others = others if isinstance(others, Mapping) else {}
        for name, each in value.items():
            yield from _secret_texts(each, properties.get(name, others), f"{path}.{name}" if path else str(name), kind)


def _masked_again(place: str) -> Incomplete:
    remedy = "send the secret itself, or change other members by PATCH; reading secrets needs a rule with `secrets`"
    return Incomplete(f"{place} has {MASKED} in place of a hidden secret: {remedy}")


# -- objects


def masked_value(value: Any, schema: Schema) -> Any:
    """Return a value with its secrets masked. The schema declares which members are secret; undeclared members are masked."""
    return _value(value, schema, {})


def masked_object(value: Any, schema: str) -> Any:
    """Return an object, or a list of objects, with its secrets masked. `schema`: the name of its schema."""
    return _value(value, grammar().schemas.named(schema), {})


def masked_member(value: Any, object_: str, member: str) -> Any:
    """Return the value of a member of the object named `object_`, with secrets masked. An empty `member` means the whole object."""
    return _of_member(value, {"object": object_, "member": member})


def _value(value: Any, schema: Schema, siblings: Mapping[str, Any]) -> Any:
    schemas = grammar().schemas
    schema = schemas.resolve(schema)
    kind = schema.get("x-secret")
    if kind is False or value is None or isinstance(value, bool):
        return value
    if kind is not None:
        return _secret(value, str(kind), schema, siblings)
    if isinstance(value, Mapping):
        if schema.get("type") == "array":
            # An operation that accepts one query or a list of queries answers a single query with a single object.
            return _value(value, schema.get("items", {}), siblings)
        properties, others = _properties(schema), schema.get("additionalProperties")
        others = others if isinstance(others, Mapping) else {}
        return {name: _value(each, properties.get(name, others), value) for name, each in value.items()}
    if isinstance(value, list):
        return [_value(each, schema.get("items", schema), siblings) for each in value]
    return MASKED if isinstance(value, str) and value and schema.get("type") != "string" else value


def _properties(schema: Schema) -> Mapping[str, Schema]:
    """Return the properties of a schema, including those of its alternatives (`oneOf` and `anyOf`)."""
    schemas = grammar().schemas
    found = dict(schemas.properties(schema))
    for word in ("oneOf", "anyOf"):
        for each in schema.get(word, ()):
            found |= _properties(schemas.resolve(each))
    return found


def _secret(value: Any, kind: str, schema: Schema, siblings: Mapping[str, Any]) -> Any:
    """Mask a value as `kind`, the value of its `x-secret`, requires."""
    if kind == "member":
        return _of_member(value, siblings)
    if kind in grammar().schemas.by_name:
        return masked_object(value, kind)
    if isinstance(value, Mapping):
        return _mapping(value, kind, schema)
    if isinstance(value, list):
        return [_secret(each, kind, schema, siblings) for each in value]
    text = value if isinstance(value, str) else str(value)
    if kind == TEXT and not _OF_HAPROXY.search(text):
        return masked_text(text)
    if kind in (LINES, TEXT, MESSAGE):
        return masked_lines(text) if kind == LINES else masked_message(text)
    return value if not text or is_shown(kind, text, siblings) else MASKED


def _mapping(value: Mapping[str, Any], kind: str, schema: Schema) -> dict[str, Any]:
    if kind == "objects":
        known, files = resources().by_name, _properties(grammar().schemas.named("plan_set"))
        own: dict[str, Schema] = {name: {"$ref": f"#/components/schemas/{each.schema}"} for name, each in known.items()}
        own |= {**_properties(schema), **{name: {"x-secret": False} for name in files}}
        return {name: _value(each, own.get(name, {}), {}) for name, each in value.items()}
    if kind == "headers":
        return {name: None if each is None else _secret(each, "header name", {}, {"name": name}) for name, each in value.items()}
    return {name: _secret(each, kind, {}, {}) for name, each in value.items()}


def _of_member(value: Any, siblings: Mapping[str, Any]) -> Any:
    """Mask the value of a member. `siblings` has the names of the object and the member, under `object` and `member`."""
    object_, member = str(siblings.get("object", "")), str(siblings.get("member", ""))
    try:
        kinds = parsed(object_)[::2]
    except BadRequest:
        kinds = ()
    if _is_of_file(object_):
        return value
    schemas = grammar().schemas
    named = schemas.named(resource.schema) if (resource := _resource(kinds)) else {}
    if member == _UNKNOWN_LINES and isinstance(value, list):
        return [masked_lines(each) if isinstance(each, str) else MASKED for each in value]
    if kinds[-1:] == ("server",):
        named = {"allOf": [*({"$ref": f"#/components/schemas/{name}"} for name in _OF_PROCESS), named]}
    if not member and isinstance(value, Mapping):
        lines = {name: _of_member(each, {**siblings, "member": name}) for name, each in value.items() if name == _UNKNOWN_LINES}
        return _value({name: each for name, each in value.items() if name not in lines}, named, {}) | lines
    return _value(value, _properties(named).get(member, {}), siblings)


def _is_of_file(object_: str) -> bool:
    """Return whether an object is a stored file or an entry in one. Such objects are not masked: reading them needs its own permission."""

    return object_.partition("/")[0] in bundle()["x-secrets"]["files"]


def _resource(kinds: Sequence[str]) -> Resource | None:
    """Return the resource of an object; None if there is none. `kinds`: the kinds in the name of the object."""
    every = resources().by_name.values()
    return next((each for each in every if kinds and kinds[-1] == kind_of(each) and bool(each.parents) == (len(kinds) > 1)), None)
