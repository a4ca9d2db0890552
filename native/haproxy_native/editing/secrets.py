"""Replace secrets in texts and objects by `<masked>`, and refuse masked texts that clients send back.

Members, words and lines that no schema declares are masked. Of the members that openapi/schemas declares, only those with `x-secret` are
masked, unless haproxy_native/editing/secret_kinds.py decides that the text is harmless. In a text, the schema of each kind of line
determines which member a word belongs to. A commented-out line is masked like the line itself, and a comment that mentions credentials is
masked as a whole. Other comments and metadata are shown. The checksum line is removed, because it would help to guess a short password.
"""

import functools
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from haproxy_native.editing.header import BANNER, without_checksum
from haproxy_native.editing.object_names import kind_of, parsed
from haproxy_native.editing.resources import resources
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
        lines: list[str] = []
        mask: Callable[[str], str] = _masked_line
        for line in split_lines(text):
            if line.startswith("--- "):
                # Other files than the configuration may quote lines of the configuration.
                mask = masked_text if _is_of_file(line[4:]) else _masked_line
            if line.startswith(("--- ", "+++ ", "@@ ", "\\ ")):
                lines.append(line)
            elif not line[1:].startswith("# _md5hash="):
                lines.append(line[:1] + mask(line[1:]))
        return "".join(lines)
    return "".join(map(_masked_line, split_lines(without_checksum(text))))


@functools.lru_cache(maxsize=1 << 14)
def _masked_line(line: str) -> str:
    if not (words := words_of(line)) and (not line.strip() or line in BANNER or _VERSION.fullmatch(line)):
        return line
    if not (hidden := _words_to_mask(words)) and "#" not in line and "\r" not in line:
        return line
    return _with_masked_words(split(line), hidden)


def _with_masked_words(parts: SplitLine, hidden: Collection[int]) -> str:
    """Return a line with the words at the indices `hidden` masked, and with the secrets in its comment masked."""
    shown = (MASKED if at in hidden else word for at, word in enumerate(parts.words))
    bare = parts.tail.strip(BLANKS + "\n")
    comment = bare.lstrip("# \t")
    if not bare.startswith("#"):
        comment, masked = bare, f"# {MASKED}"
    elif _CREDENTIAL.search(comment):
        masked = MASKED
    elif (words := words_of(comment)) and words[0] in _vocabulary().first_words:
        masked = _masked_line(comment)
    else:
        masked = comment
    return SplitLine(parts.gaps, tuple(shown), parts.tail.replace(comment, masked) if comment else parts.tail).join()


def masked_text(text: str) -> str:
    """Return a text with secrets masked in those of its lines that may quote the configuration."""
    return "".join(_mask_quoted_line(line) for line in split_lines(text))


def masked_message(text: str) -> str:
    """Return a message of HAProxy with its quoted texts masked. Quoted keywords and names of sections, ACLs and servers are shown."""
    lines: list[str] = []
    for line in split_lines(text):
        source = _SOURCE.match(line)
        lines.append(source[0] + _masked_line(line[source.end() :]) if source else _mask_quoted_texts(_mask_quoted_line(line)))
    return "".join(lines)


def _mask_quoted_texts(line: str) -> str:
    # Quoted words may contain quotes, so everything from the first masked quote to the last one in the line is masked.
    for found in _QUOTE.finditer(line):
        begin, quoted = found.start(), found[1]
        is_public = quoted is not None and _NAMED.search(line, max(0, begin - 20), begin) is not None
        if quoted is not None and not is_public:
            words = words_of(quoted)
            if len(words) > 1 and words[0] in _vocabulary().sections:
                is_public = not _words_to_mask(words)
            else:
                is_public = bool(_SERVER.fullmatch(quoted)) or all(word in _vocabulary().keywords for word in words)
        if not is_public:
            end = max(line.rfind("'"), line.rfind(">"))
            # The message may be truncated within a quote.
            is_closed = end > begin and line[end + 1 : end + 2] in '\n .,:;)]"' and "<" not in line[end:]
            return f"{line[:begin]}'{MASKED}'{line[end + 1 :] if is_closed else line[len(line.rstrip()) :]}"
    return line


def _mask_quoted_line(line: str) -> str:
    """Return a line of a text with its secrets masked. The line may quote a line of the configuration."""
    for found in _BARE_WORD.finditer(line):
        if found[0] in _vocabulary().before_secrets:
            if len(line) > _LONGEST:
                return f"{line[: found.start()]}{MASKED}"
            parts = split(line[found.start() :])
            found_secrets = ((set(_secrets(shape, reading, parts.words)), reading) for shape, reading in _readings(parts.words))
            if hidden := {place for secrets, reading in found_secrets if secrets for place in (*secrets, *reading.unknown)}:
                return line[: found.start()] + _with_masked_words(parts, hidden)
    return line


def _words_to_mask(words: Sequence[str]) -> set[int]:
    """Return the indices of the words to mask in a line of the configuration."""
    if not words:
        return set()
    readings = list(_readings(words))
    if complete := [reading for reading in readings if not reading[1].unknown]:
        return {place for shape, reading in complete for place in _secrets(shape, reading, words)}
    if readings:
        return {place for shape, reading in readings for place in (*_secrets(shape, reading, words), *reading.unknown)}
    if words[0] in _NEGATIONS and words[1:]:
        return {place + 1 for place in _words_to_mask(words[1:])}
    return set(range(1, len(words)))


def _readings(words: Sequence[str]) -> Iterator[tuple[LineShape, LineReading]]:
    """Yield (shape, reading) for every possible reading of a line whose section is unknown."""
    for size in range(min(_vocabulary().longest, len(words)), 0, -1):
        for shape in shapes().get(tuple(map(unquoted, words[:size])), ()):
            if reading := shape.parse_words(words):
                yield shape, reading


def _secrets(shape: LineShape, reading: LineReading, words: Sequence[str]) -> Iterator[int]:
    """Yield the indices of the words that contain a secret."""
    if not any(member in reading.values or member.split(".")[0] in reading.values for member in shape.secrets):
        return
    seen: dict[str, Any] = dict(reading.values)
    for node, start, end in _matched_nodes(reading.alternative.chain, words, reading.parts):
        match = node.match(words[start:end], 0)
        seen |= match[1] if match else {}
        for member in node.members:
            kind = shape.secrets.get(member)
            prefix = member.rpartition(".")[0]
            if kind and member in seen and not is_shown(kind, " ".join(words[start:end]), seen, prefix and f"{prefix}."):
                starts = () if isinstance(node, Placeholder | Rest) else node.starts() or ()
                yield from (at for at in range(start, end) if at > start or unquoted(words[at]) not in starts)


def _matched_nodes(chain: Chain, words: Sequence[str], parts: Sequence[MatchedWords], offset: int = 0) -> Iterator[tuple[Node, int, int]]:
    """Yield (node, start, end) for each node of a chain that has matched words. `start` and `end` are indices of `words`."""
    for part in parts:
        if part.key is None:
            continue
        node = chain.nodes[part.key[0]]
        if not isinstance(node, Options):
            yield node, offset + part.start, offset + part.end
            continue
        own = words[offset + part.start : offset + part.end]
        if isinstance(part.by, Chain):
            yield from _matched_nodes(part.by, words, part.by.parts(own) or (), offset + part.start)


@functools.cache
def shapes() -> Mapping[tuple[str, ...], Sequence[LineShape]]:
    """Return the shapes of all lines, by the first words of a line. Shapes with equal synopses and secrets are returned only once."""
    by_prefix: dict[tuple[str, ...], dict[object, LineShape]] = {}
    for shape in line_shapes(grammar()):
        key = (*(each.text for each in shape.alternatives), *shape.secrets.items())
        for prefix in shape.prefixes():
            by_prefix.setdefault(prefix, {})[key] = shape
    return {prefix: tuple(each.values()) for prefix, each in by_prefix.items()}


class _Vocabulary(NamedTuple):
    """The words that may begin a line of a configuration, from the shapes of all lines."""

    # The number of words in the longest beginning of a line.
    longest: int
    # The first words of all lines.
    first_words: frozenset[str]
    # All words in the beginnings of lines.
    keywords: frozenset[str]
    # The first words of lines that may contain a secret.
    before_secrets: frozenset[str]
    # The keywords of sections.
    sections: frozenset[str]


@functools.cache
def _vocabulary() -> _Vocabulary:
    by_prefix = shapes()
    return _Vocabulary(
        max(map(len, by_prefix)),
        frozenset({*(prefix[0] for prefix in by_prefix if prefix), *_NEGATIONS}),
        frozenset({*(word for prefix in by_prefix for word in prefix), *_NEGATIONS}),
        frozenset(prefix[0] for prefix, each in by_prefix.items() if prefix and any(shape.secrets for shape in each)),
        frozenset(resource.section for resource in resources().by_name.values()),
    )


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
            raise _masked_error(f"line {number}")


def refuse_masked(sent: Any, schema: Schema) -> None:
    """Raise Incomplete if a value has `<masked>` in a member that may contain a secret. The error names the member."""
    for member, value, kind in _secret_texts(sent, schema, "", None):
        if kind == LINES:
            refuse_masked_text(value.encode("utf-8", "surrogatepass"))
        elif kind not in (TEXT, MESSAGE) and MASKED in value:
            raise _masked_error(member or "body")


def _secret_texts(value: Any, schema: Schema, path: str, kind: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield (member, text, `x-secret`) for each text in a value that may be a secret.

    `path`: the member that contains the value. `kind`: the `x-secret` of this member.
    """
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


def _masked_error(place: str) -> Incomplete:
    remedy = "send the secret itself, or change other members by PATCH; reading secrets needs a rule with `secrets`"
    return Incomplete(f"{place} has {MASKED} in place of a hidden secret: {remedy}")


# -- objects


def masked_value(value: Any, schema: Schema) -> Any:
    """Return a value with its secrets masked, as its schema declares. Members that the schema does not declare are masked."""
    return _mask_value(value, schema, {})


def masked_object(value: Any, schema: str) -> Any:
    """Return an object, or a list of objects, with its secrets masked. `schema`: the name of its schema."""
    return _mask_value(value, grammar().schemas.named(schema), {})


def masked_member(value: Any, object_: str, member: str) -> Any:
    """Return the value of a member of the object named `object_`, with secrets masked. An empty `member` means the whole object."""
    return _mask_member(value, {"object": object_, "member": member})


def _mask_value(value: Any, schema: Schema, siblings: Mapping[str, Any]) -> Any:
    schemas = grammar().schemas
    schema = schemas.resolve(schema)
    kind = schema.get("x-secret")
    if kind is False or value is None or isinstance(value, bool):
        return value
    if kind is not None:
        return _mask_secret(value, str(kind), schema, siblings)
    if isinstance(value, Mapping):
        if schema.get("type") == "array":
            # An operation that accepts one query or a list of queries answers a single query with a single object.
            return _mask_value(value, schema.get("items", {}), siblings)
        properties, others = _properties(schema), schema.get("additionalProperties")
        others = others if isinstance(others, Mapping) else {}
        return {name: _mask_value(each, properties.get(name, others), value) for name, each in value.items()}
    if isinstance(value, list):
        return [_mask_value(each, schema.get("items", schema), siblings) for each in value]
    return MASKED if isinstance(value, str) and value and schema.get("type") != "string" else value


def _properties(schema: Schema) -> Mapping[str, Schema]:
    """Return the properties of a schema, including those of its alternatives (`oneOf` and `anyOf`)."""
    schemas = grammar().schemas
    found = dict(schemas.properties(schema))
    for word in ("oneOf", "anyOf"):
        for each in schema.get(word, ()):
            found |= _properties(schemas.resolve(each))
    return found


def _mask_secret(value: Any, kind: str, schema: Schema, siblings: Mapping[str, Any]) -> Any:
    """Return a value with its secrets masked. `kind`: the value of its `x-secret`."""
    if kind == "member":
        return _mask_member(value, siblings)
    if kind in grammar().schemas.by_name:
        return masked_object(value, kind)
    if isinstance(value, Mapping) and kind == "objects":
        files = _properties(grammar().schemas.named("plan_set"))
        own: dict[str, Schema] = {name: {"$ref": f"#/components/schemas/{each.schema}"} for name, each in resources().by_name.items()}
        own |= {**_properties(schema), **{name: {"x-secret": False} for name in files}}
        return {name: _mask_value(each, own.get(name, {}), {}) for name, each in value.items()}
    if isinstance(value, Mapping) and kind == "headers":
        return {name: None if each is None else _mask_secret(each, "header name", {}, {"name": name}) for name, each in value.items()}
    if isinstance(value, Mapping):
        return {name: _mask_secret(each, kind, {}, {}) for name, each in value.items()}
    if isinstance(value, list):
        return [_mask_secret(each, kind, schema, siblings) for each in value]
    text = value if isinstance(value, str) else str(value)
    if kind == TEXT and not _OF_HAPROXY.search(text):
        return masked_text(text)
    if kind in (LINES, TEXT, MESSAGE):
        return masked_lines(text) if kind == LINES else masked_message(text)
    return value if not text or is_shown(kind, text, siblings) else MASKED


def _mask_member(value: Any, siblings: Mapping[str, Any]) -> Any:
    """Return the value of a member with its secrets masked.

    `siblings` has the names of the object and the member, as `object` and `member`.
    """
    object_, member = str(siblings.get("object", "")), str(siblings.get("member", ""))
    try:
        kinds = parsed(object_)[::2]
    except BadRequest:
        kinds = ()
    if _is_of_file(object_):
        return value
    schemas = grammar().schemas
    named: Schema = {}
    for resource in resources().by_name.values():
        if kinds and kinds[-1] == kind_of(resource) and bool(resource.parents) == (len(kinds) > 1):
            named = schemas.named(resource.schema)
            break
    if member == _UNKNOWN_LINES and isinstance(value, list):
        return [masked_lines(each) if isinstance(each, str) else MASKED for each in value]
    if kinds[-1:] == ("server",):
        named = {"allOf": [*({"$ref": f"#/components/schemas/{name}"} for name in _OF_PROCESS), named]}
    if not member and isinstance(value, Mapping):
        lines = {name: _mask_member(each, {**siblings, "member": name}) for name, each in value.items() if name == _UNKNOWN_LINES}
        return _mask_value({name: each for name, each in value.items() if name not in lines}, named, {}) | lines
    return _mask_value(value, _properties(named).get(member, {}), siblings)


def _is_of_file(object_: str) -> bool:
    """Return whether an object is a stored file, or an entry in a stored file.

    Such objects are not masked: reading them needs a permission.
    """

    return object_.partition("/")[0] in bundle()["x-secrets"]["files"]
