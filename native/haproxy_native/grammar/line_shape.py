"""Read an object from one line, write it to a new line, and write its values onto an existing line (`LineShape`).

The metadata of an object is JSON in the comment at the end of its line. Any other comment was written by a person. The API shows such a
comment as metadata, and keeps it until other metadata replaces it.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from haproxy_native.errors import BadValue, NativeError, Place, UnknownWords
from haproxy_native.grammar.conditions import refuse_half
from haproxy_native.grammar.merge import Piece, Written, first_misread, join_pieces, rewrite_words, with_gaps_of, write_onto
from haproxy_native.grammar.schema import Order, arrange
from haproxy_native.grammar.synopsis import (
    Chain,
    Composed,
    Glued,
    Group,
    Literal,
    MatchedWords,
    Node,
    NoValue,
    Options,
    Toggle,
    Values,
    merged,
)
from haproxy_native.grammar.values import agrees
from haproxy_native.text.line import Line
from haproxy_native.text.words import BLANKS, SplitLine, has_variable, normalized, unquoted, words_of

METADATA = "metadata"


def read_metadata(comment: str | None) -> dict[str, Any] | None:
    """Return the metadata in a comment: its JSON object, or `{"comment": text}` for any other text; None if there is no comment."""
    if not comment:
        return None
    return members if (members := _json_object(comment)) is not None else {"comment": comment}


def is_metadata(comment: str | None) -> bool:
    """Return whether a comment is metadata that the API has written. False for the comment of a person."""
    return comment is not None and _json_object(comment) is not None


def _json_object(comment: str) -> dict[str, Any] | None:
    try:
        value = json.loads(comment) if comment.startswith("{") else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def write_metadata(metadata: Any) -> str | None:
    """Return metadata as a comment in compact JSON; None if there is no metadata. Raises BadValue if the metadata is not an object."""
    if metadata is None:
        return None
    if not isinstance(metadata, Mapping):
        raise BadValue("metadata in body must be an object", place=Place(member=METADATA))
    text = json.dumps(metadata, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


# How many readings a shape caches: an edit reads the old line and the new line several times.
RECENT = 2


@dataclass
class Alternative:
    """One synopsis of a line. `fixed` has the values of the members that select this synopsis, such as {"type": "allow"}."""

    chain: Chain
    fixed: Mapping[str, Any]
    text: str
    literals: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        literals: list[str] = []
        for node in self.chain.nodes:
            if isinstance(node, Toggle) and list(node.words) == [True]:
                literals += node.words[True] or ()
            elif isinstance(node, Literal):
                literals.append(node.text)
            else:
                break
        self.literals = tuple(literals)

    @cached_property
    def conditions(self) -> tuple[tuple[str, str], ...]:
        """Return the pairs of members that express a condition together, such as (cond, cond_test)."""
        members = self.chain.members
        return tuple((member, f"{member}_test") for member in members if member.endswith("cond") and f"{member}_test" in members)

    def lacking(self, values: Mapping[str, Any]) -> str | None:
        return next((member for member in self.chain.required() if member not in values), None)


@dataclass
class Alias:
    """A member that is another name for the member `target`."""

    member: str
    target: str
    # Maps the values of the alias to those of the target. None: the API never shows the alias, and its value is converted to a text.
    values: Mapping[Any, Any] | None
    # The values of other members that the alias requires.
    where: Mapping[str, Any] = field(default_factory=dict)
    write_only: bool = False

    def meant(self, value: Any) -> Any:
        """Return the value of the target that a value of the alias stands for; None if the alias has no such value."""
        return str(value) if self.values is None else self.values.get(value)


@dataclass
class LineReading:
    """The result of reading a line: the alternative that matches, the parts of the line, and the values of the members."""

    alternative: Alternative
    parts: list[MatchedWords]
    values: Values

    @property
    def unknown(self) -> list[int]:
        """Return the indices of unknown words."""
        return [i for part in self.parts if part.key is None for i in range(part.start, part.end)]


def opaque_words(line: Line, reading: LineReading) -> tuple[str, ...]:
    """Return the words of a line that are unknown, or whose value only HAProxy can determine."""
    return tuple(word for part in reading.parts if part.key is None or part.hidden for word in line.words[part.start : part.end])


class LineShape:
    """The syntax of one kind of line."""

    def __init__(
        self,
        alternatives: Sequence[Alternative],
        # All members, in the order of the schema.
        order: Sequence[str],
        *,
        # The members whose values select the alternative.
        chosen_by: Sequence[str] = (),
        aliases: Sequence[Alias] = (),
        # Whether the comment of the line has metadata.
        metadata: bool = False,
        # The members that every line requires.
        needed: Sequence[str] = (),
        # Groups of members: a line has all members of a group, or none.
        together: Sequence[Sequence[str]] = (),
        # Groups of members: a line has at most one member of a group.
        exclusive: Sequence[Sequence[str]] = (),
        # The values of members that the line does not mention.
        unsaid: Mapping[str, Any] | None = None,
        # The index, by member, of a word that is also the value of the member.
        implied: Mapping[str, int] | None = None,
        # The values, by member, that reading leaves out.
        absent: Mapping[str, Any] | None = None,
        # The order of the members of inner objects.
        inner: Order | None = None,
        # The `x-secret` of members, by dotted name.
        secrets: Mapping[str, Any] | None = None,
    ) -> None:
        self.secrets = secrets or {}
        self.alternatives, self.order, self.chosen_by = tuple(alternatives), tuple(order), tuple(chosen_by)
        self.aliases, self.metadata = tuple(aliases), metadata
        everywhere = [{member.split(".")[0] for member in (*each.chain.members, *each.fixed)} for each in alternatives]
        self.needed = tuple(name for name in needed if name in self.order and all(name in members for members in everywhere))
        self.together = tuple(tuple(group) for group in together)
        self.exclusive, self.unsaid, self.implied = tuple(tuple(group) for group in exclusive), unsaid or {}, implied or {}
        self.absent, self.inner = absent or {}, inner or {}
        own = {m.split(".")[0] for alternative in alternatives for m in (*alternative.chain.members, *alternative.fixed)}
        self.members = tuple(name for name in order if name in own | {alias.member for alias in aliases})
        nodes = [node for alternative in alternatives for node in _nodes(alternative.chain)]
        self.silent = frozenset(pair for node in nodes if isinstance(node, Toggle) for pair in node.unwritten())
        # By their members, since the same address is in several synopses.
        self.addresses = tuple({node.members: node for node in nodes if isinstance(node, Composed)}.values())
        self.joins = {group.rows: group.join for alternative in alternatives for group in _groups(alternative.chain) if group.join}
        self._known = frozenset(order)
        self._dotted = frozenset(m.split(".")[0] for alternative in alternatives for m in alternative.chain.members if "." in m)
        self._index: dict[str, list[Alternative]] = {}
        self._depth = min((len(alternative.literals) for alternative in alternatives), default=0)
        for choice in alternatives:
            self._index.setdefault(self._index_key(choice), []).append(choice)
        self._prefixes = frozenset(alternative.literals for alternative in alternatives)
        self._parse_cached = lru_cache(RECENT)(self._parse)

    # -- which alternative

    def _index_key(self, alternative: Alternative) -> str:
        """Return the key of an alternative in `_index`: the literal at the index `_depth`; empty if the alternative has no literal there.

        Every alternative begins with at least `_depth` literals. If the literal is only the beginning of a word, as in
        `set-map(<map_file>)`, the key ends with `(`.
        """
        nodes = alternative.chain.nodes
        if len(alternative.literals) > self._depth:
            return alternative.literals[self._depth]
        node = nodes[self._depth] if len(nodes) > self._depth else None
        return node.literals[0] if isinstance(node, Glued) and node.literals[0].endswith("(") else ""

    def prefixes(self) -> frozenset[tuple[str, ...]]:
        return self._prefixes

    @cached_property
    def first_words(self) -> frozenset[str]:
        """Return the words that a line may begin with."""
        return frozenset(prefix[0] for prefix in self._prefixes)

    # -- reading

    def parse_words(self, words: Sequence[str]) -> LineReading | None:
        """Parse the words of a line. Return the reading, which is cached and must not be changed; None if no alternative matches.

        The first alternative that knows all words takes precedence, then the first that matches.
        """
        return self._parse_cached(tuple(words))

    def _parse(self, words: tuple[str, ...]) -> LineReading | None:
        candidates: Sequence[Alternative] = self.alternatives
        if len(candidates) > 1:
            candidates = self._index.get("", ())
            if word := unquoted(words[self._depth]) if len(words) > self._depth else "":
                with_parenthesis = self._index.get(word[: word.index("(") + 1], ()) if "(" in word else ()
                candidates = [*self._index.get(word, ()), *with_parenthesis, *candidates]
        fallback: LineReading | None = None
        for alternative in candidates:
            parts = alternative.chain.parts(words)
            if parts is None:
                continue
            reading = LineReading(alternative, parts, self._values(alternative, parts, words))
            if not reading.unknown:
                return reading
            fallback = fallback or reading
        return fallback

    def _values(self, alternative: Alternative, parts: Sequence[MatchedWords], words: Sequence[str]) -> Values:
        unsaid = {member: value for member, value in self.unsaid.items() if member in alternative.chain.members}
        implied = {member: normalized(words[place]) for member, place in self.implied.items() if place < len(words)}
        return {**unsaid, **implied, **alternative.fixed, **self._merged(parts, alternative)}

    def _merged(self, parts: Sequence[MatchedWords], alternative: Alternative) -> Values:
        values = merged(parts, nodes=alternative.chain.nodes)
        return {**values, **{name: join.joined(values[name]) for name, join in self.joins.items() if name in values}}

    def added(self, values: Mapping[str, Any], more: Mapping[str, Any]) -> Values:
        """Return the values of a line together with the values `more` of a later line."""
        both = {name: join.joined([values[name], more[name]]) for name, join in self.joins.items() if name in values and name in more}
        return {**values, **more, **both}

    def read(self, line: Line) -> dict[str, Any] | None:
        """Return the object of a line; None if the line is of another kind."""
        reading = self.parse_words(line.words)
        return None if reading is None else self.to_object(dict(reading.values), line)

    def to_object(self, values: Values, line: Line | None) -> dict[str, Any]:
        """Convert flat values to the object: nested, in the order of the schema, with aliases and the metadata of the line.

        Changes `values`.
        """
        for alias in self.aliases:
            pairs = {} if alias.write_only else alias.values or {}
            matching = [own for own, target in pairs.items() if alias.target in values and values[alias.target] == target]
            if matching:
                values[alias.member] = matching[0]
        if self.metadata and line is not None and (metadata := read_metadata(line.comment)):
            values[METADATA] = metadata
        nested = unflattened(values)
        for name in self.inner.keys() & nested.keys():
            nested[name] = arrange(nested[name], self.inner[name])
        return {name: nested[name] for name in self.order if name in nested and self.absent.get(name) != nested[name]}

    # -- writing

    def flatten_body(self, values: Mapping[str, Any]) -> Values:
        """Convert the values that a client has sent to flat values, as if they had been read from a line.

        Empty values are dropped, and aliases are replaced by their targets. Raises BadValue if values contradict each other.
        """
        flat = flattened(values, self._known, self._dotted)
        addresses = [(node.members, node.meant(flat)) for node in self.addresses]
        for name in list(flat):
            if flat[name] in (None, "", []) or (flat[name] is False and (name, False) in self.silent):
                del flat[name]
        for alias in self.aliases:
            if alias.member not in flat or not alias.where.items() <= flat.items():
                continue
            meant = alias.meant(flat[alias.member])
            if alias.where and flat.get(alias.target, meant) != meant:
                detail = f"{alias.member} and {alias.target} in body are two names for one value and differ"
                raise BadValue(detail, place=Place(member=alias.member))
            if alias.target not in flat and meant is not None:
                flat[alias.target] = meant
        for members, meant in addresses:
            flat = {name: value for name, value in flat.items() if name not in members} | meant
        return {name: value for name, value in flat.items() if not (isinstance(value, str) and (name, value) in self.silent)}

    def without_stale_aliases(self, values: Mapping[str, Any], former: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the values without stale aliases: if a member has several names, remove the names whose value is the same as in `former`.

        If all names have the same value as in `former`, none is removed. A client that changes a member under one name sends the former
        value under the other names. `former`: the values before the change.
        """
        stale: set[str] = set()
        for target in {alias.target for alias in self.aliases}:
            aliases = [alias.member for alias in self.aliases if alias.target == target and alias.where.items() <= values.items()]
            names = [name for name in (target, *aliases) if name in values]
            same = {name for name in names if values[name] == former.get(name)}
            if len(same) < len(names):
                stale |= same
        return {name: value for name, value in values.items() if name not in stale} if stale else values

    def choose(self, values: Values, existing: LineReading | None = None) -> Alternative:
        """Return the alternative that expresses the most values. Among equals, prefer that of the existing line.

        Raises BadValue if no alternative can express the values, or if required values are missing. A value that the existing line lacks
        may be missing: HAProxy accepts `user alice`, without a password.
        """
        present = existing.alternative if existing else None
        self._check_required(values, existing.values.keys() if existing else self.needed)
        fitting = [alternative for alternative in self.alternatives if all(values.get(k) == v for k, v in alternative.fixed.items())]
        if not fitting:
            raise self._no_alternative(values)
        for members in self.exclusive:
            given = [member for member in members if member in values and any(member in each.chain.members for each in fitting)]
            if len(given) > 1:
                raise BadValue(f"{' and '.join(given)} are exclusive", place=Place(member=given[-1]))
        if len(fitting) == 1 and fitting[0].lacking(values) is None:
            return fitting[0]
        whole = [alternative for alternative in fitting if alternative.lacking(values) is None]
        if not whole:
            member = fitting[0].lacking(values) or ""
            refuse_half([member.removesuffix("_test")], values)
            raise BadValue(f"{member} in body is required by `{fitting[0].text}`", place=Place(member=member))
        chosen = max(whole, key=lambda each: (sum(member in values for member in each.chain.members), each is present))
        for other in fitting:
            left = next((member for member in other.chain.members if member in values and member not in chosen.chain.members), None)
            if left and (lacking := other.lacking(values)):
                raise BadValue(f"{left} set without {lacking}", place=Place(member=lacking))
        return chosen

    def _check_required(self, values: Values, required: Collection[str]) -> None:
        """Raise BadValue if a needed member is missing that is in `required`, or if only some members of a group in `together` are sent."""
        for member in (name for name in self.needed if name in required):
            # A variable in an address may contain the member, such as a port: only HAProxy knows the value of the variable.
            addresses = [str(values.get(node.members[0], "")) for node in self.addresses if member in node.members]
            if member not in values and not any(map(has_variable, addresses)):
                raise BadValue(f"{member} in body is required", place=Place(member=member))
        for members in self.together:
            given = [member for member in members if member in values]
            if given and len(given) < len(members):
                lacking = next(member for member in members if member not in values)
                raise BadValue(f"{given[0]} set without {lacking}", place=Place(member=lacking))

    def _no_alternative(self, values: Values) -> BadValue:
        """Return the error for values that select no alternative. The message of the error lists the values that select one."""
        names = self.chosen_by or tuple(self.alternatives[0].fixed)
        given = " ".join(f"{name} '{values[name]}'" if name in values else f"no {name}" for name in names)
        akin = (
            [alternative for alternative in self.alternatives if values.get(names[0]) == alternative.fixed.get(names[0])] if names else []
        )
        known = sorted(
            {" ".join(str(choice.fixed[name]) for name in names if name in choice.fixed) for choice in akin or self.alternatives}
        )
        return BadValue(f"unsupported {given}; known: {', '.join(known)}", place=Place(member=names[0] if names else None))

    def words(self, values: Mapping[str, Any]) -> list[str]:
        """Return the words of a new line."""
        flat = self.flatten_body(values)
        return [word for _, words, _ in self.written(self.choose(flat), flat) for word in words]

    def written(self, alternative: Alternative, flat: Values, reading: LineReading | None = None) -> list[Written]:
        """Return the words of each part of a line with the values `flat`. `reading`: the existing line; None for a new line.

        Raises BadValue. Raises Incomplete if a condition has only one of its two members. HAProxy accepts `deny if`, so such a condition
        may stay in an existing line.
        """
        existing = reading.values if reading else {}
        for cond, test in alternative.conditions:
            if not (cond in flat and existing.get(cond) == flat[cond] and test not in existing):
                refuse_half([cond], flat)
        # The members whose keyword may be repeated, each split into one part for each occurrence.
        chunks: Values = {}
        for name, join in self.joins.items():
            if name in flat:
                old = [part.values[name] for part in reading.parts if name in part.values] if reading else []
                try:
                    chunks[name] = join.chunks(flat[name], old)
                except ValueError as error:
                    raise BadValue(f"{name} in body: {error}", place=Place(member=name)) from None
        try:
            return list(alternative.chain.written({**flat, **chunks}))
        except NoValue as error:
            raise BadValue(f"{error.member} in body is required by `{alternative.text}`", place=Place(member=error.member)) from None

    def new(self, values: Mapping[str, Any], indent: str = "", newline: str = "\n") -> Line:
        """Return a new line. Raises BadValue."""
        flat = self.flatten_body(values)
        alternative = self.choose(flat)
        written = self.written(alternative, flat)
        pieces: list[Piece] = [(key, with_gaps_of([], words)) for key, words, _ in written]
        text = indent + self._join_and_verify(alternative, pieces, "", written).join().lstrip(BLANKS)
        comment = write_metadata(values.get(METADATA)) if self.metadata else None
        return Line(text + (f" # {comment}" if comment is not None else "") + newline)

    def onto(self, line: Line, values: Mapping[str, Any]) -> Line:
        """Return an existing line with new values. Words whose value does not change are kept. Raises BadValue and UnknownWords."""
        reading = self.parse_words(line.words)
        if self.aliases and reading is not None:
            values = self.without_stale_aliases(values, self.to_object(dict(reading.values), line))
        flat = self.flatten_body(values)
        alternative = self.choose(flat, reading)
        requested = self.written(alternative, flat, reading)
        written = self._without_implied(line, reading, requested)
        old = line.split
        if reading is not None and reading.alternative is alternative:
            pieces = write_onto(old, reading.parts, written, alternative.chain)
        else:
            pieces = rewrite_words(old, reading.parts if reading else (), written)
        new = self._join_and_verify(alternative, pieces, old.tail, requested)
        tail = self._tail_with_metadata(line, values) if self.metadata else new.tail
        text = SplitLine(new.gaps, new.words, tail).join()
        return line if text == line.text else Line(text)

    def _join_and_verify(self, alternative: Alternative, pieces: Sequence[Piece], tail: str, written: Iterable[Written]) -> SplitLine:
        """Join the pieces to a line, and verify that parsing it returns the written values. Raises BadValue and UnknownWords."""
        split = join_pieces(pieces, tail)
        words = [part for word in split.words for part in words_of(word)]
        reading = self.parse_words(words)
        own = reading is not None and reading.alternative is alternative
        parts = reading.parts if reading and own else alternative.chain.parts(words)
        if reading is None or parts is None or not (own or reading.values == self._values(alternative, parts, words)):
            raise BadValue(f"`{' '.join(words)}` would be read as another kind of line than `{alternative.text}`")
        if wrong := first_misread(pieces, parts, alternative.chain):
            unknown = next((own[0][1] for key, own in pieces if key is None), None)
            raise _misread_error(wrong, alternative, words, unknown)
        requested = self._merged([MatchedWords(key, 0, 0, values) for key, own, values in written if own], reading.alternative)
        for member, value in requested.items():
            if not agrees(value, reading.values.get(member)):
                raise BadValue(
                    f"{member} in body: '{value}' would be read as something else in `{' '.join(words)}`", place=Place(member=member)
                )
        return split

    def _without_implied(self, line: Line, reading: LineReading | None, written: list[Written]) -> list[Written]:
        """Return `written` without the parts that another word of the new line implies, but with all parts that the old line contains."""
        if not self.implied or reading is None:
            return written
        written_members = {member for part in reading.parts for member in part.values}
        same = {key: values for key, _, values in written}
        former = {part.key: line.words[part.start : part.end] for part in reading.parts if part.key and same.get(part.key) == part.values}
        words = [word for key, piece, _ in written for word in former.get(key, piece)]
        again = {
            member: normalized(words[place])
            for member, place in self.implied.items()
            if member not in written_members and place < len(words)
        }
        return [piece for piece in written if not (piece[2] and all(again.get(name) == value for name, value in piece[2].items()))]

    def with_metadata(self, line: Line, values: Mapping[str, Any]) -> Line:
        """Return a line with the metadata of `values`. Its words are unchanged."""
        tail = self._tail_with_metadata(line, values) if self.metadata else line.split.tail
        return line if tail == line.split.tail else Line(SplitLine(line.split.gaps, line.split.words, tail).join())

    def _tail_with_metadata(self, line: Line, values: Mapping[str, Any]) -> str:
        """Return the end of a line, after its words, with the metadata of `values`."""
        # A person's comment stays unless other metadata replaces it.
        old, new = read_metadata(line.comment), values.get(METADATA)
        if (old or None) == (new or None) or (not new and not is_metadata(line.comment)):
            return line.split.tail
        tail = line.split.tail
        end = tail[len(tail.rstrip("\r\n")) :]
        comment = write_metadata(new)
        if comment is None:
            return end
        gap = tail[: len(tail) - len(tail.lstrip(BLANKS))] if "#" in tail else " "
        return f"{gap or ' '}# {comment}{end}"

    # -- describing

    def required(self) -> set[str]:
        """Return the members that every line of this shape requires."""
        sets = [set(a.chain.required()) | set(a.fixed) for a in self.alternatives]
        return set.intersection(*sets) if sets else set()

    def explain(self) -> list[str]:
        """Return the synopses."""
        return [alternative.text for alternative in self.alternatives]


def _misread_error(piece: Piece, alternative: Alternative, words: Sequence[str], unknown: str | None) -> NativeError:
    line = " ".join(words)
    if unknown is not None:
        return UnknownWords(f"cannot write `{line}`: it has the unknown word `{unknown}`", place=Place(keyword=unknown))
    key, own = piece[0] or (0,), " ".join(word for _, word in piece[1])
    node = alternative.chain.nodes[key[0]]
    members = node.groups[key[1]].members if isinstance(node, Options) else node.members
    member = next(iter(members), "")
    return BadValue(f"{member} in body: `{own}` would be read as something else in `{line}`", place=Place(member=member))


def _nodes(chain: Chain) -> Iterable[Node]:
    yield from (node for node in chain.nodes if not isinstance(node, Options))
    for group in _groups(chain):
        for inner in group.alternatives:
            yield from _nodes(inner)


def _groups(chain: Chain) -> Iterable[Group]:
    return (group for node in chain.nodes if isinstance(node, Options) for group in node.groups)


def flattened(values: Mapping[str, Any], known: frozenset[str], dotted: frozenset[str]) -> Values:
    """Return the values of the members in `known`, except metadata. Replace each object whose name is in `dotted` by dotted paths."""
    flat: Values = {}
    for name, value in values.items():
        if name not in known or name == METADATA:
            continue
        if name in dotted and isinstance(value, Mapping):
            flat |= {f"{name}.{inner}": inner_value for inner, inner_value in value.items()}
        else:
            flat[name] = value
    return flat


def unflattened(values: Values) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for path, value in values.items():
        first, _, inner = path.partition(".")
        if inner:
            nested.setdefault(first, {})[inner] = value
        else:
            nested[first] = value
    return nested
