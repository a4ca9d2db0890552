"""Match the words of a line, and write them, by the elements of a synopsis. Each element is a node.

    word              a literal
    <property>        one word, or a part of a word
    <property...>     the rest of the line
    [ ... ]           an optional group
    [ ... ]*          a repeated group
    ( ... )           a required group
    |                 between synonyms in a group

Adjacent groups may be in any order, because HAProxy loops over its options. Words are compared without their quotes, as in HAProxy. Values
are flat: their keys are dotted paths of members.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

from haproxy_native.errors import BadValue, Place
from haproxy_native.grammar.conditions import CONDITIONS, refuse_half
from haproxy_native.grammar.values import Choice, Unknowable, ValueType, many_words
from haproxy_native.text.words import has_quotes, is_word, quoted, unquoted, words_of

Values = dict[str, Any]
NO_ARGUMENTS: Mapping[str, int] = MappingProxyType({})


class NoValue(Exception):
    """Raised if a member that the line requires has no value."""

    def __init__(self, member: str) -> None:
        self.member = member


class Node(Protocol):
    members: tuple[str, ...]

    def match(self, words: Sequence[str], at: int) -> tuple[int, Values] | None:
        """Return (index after the match, values) for the words from `at` on, or None if they do not match."""

    def write(self, values: Mapping[str, Any]) -> list[str]:
        """Return the words that express `values`. Raises NoValue."""

    def starts(self) -> list[str] | None:
        """Return the words that the node can begin with; None if it can begin with any word."""


@runtime_checkable
class Composed(Node, Protocol):
    """A node for a word that contains several members, such as an address and its port. Clients may send the whole word as one member."""

    def meant(self, values: Mapping[str, Any]) -> Values:
        """Return the values as if they had been written and read again. Raises BadValue if values contradict each other."""


def begins(words: Sequence[str], own: tuple[str, ...], at: int = 0) -> bool:
    """Return whether the words from the index `at` on begin with the words `own`, with or without quotes."""
    taken = tuple(words[at : at + len(own)])
    return taken == own or tuple(map(unquoted, taken)) == own


@dataclass
class Literal:
    """A word that is written as it is."""

    text: str
    members: tuple[str, ...] = ()

    def match(self, words: Sequence[str], at: int) -> tuple[int, Values] | None:
        return (at + 1, {}) if at < len(words) and (words[at] == self.text or unquoted(words[at]) == self.text) else None

    def write(self, values: Mapping[str, Any]) -> list[str]:
        return [self.text]

    def starts(self) -> list[str] | None:
        return [self.text]


@dataclass
class Toggle:
    """A member without a value in the file: a flag, or a switch between two keywords.

    `words` maps each value of the member to its words; None means that the value is not written.
    """

    member: str
    words: Mapping[Any, tuple[str, ...] | None]

    def __post_init__(self) -> None:
        self.members: tuple[str, ...] = (self.member,)

    def match(self, words: Sequence[str], at: int) -> tuple[int, Values] | None:
        for value, own in self.words.items():
            if own and begins(words, own, at):
                return at + len(own), {self.member: value}
        return None

    def write(self, values: Mapping[str, Any]) -> list[str]:
        if self.member not in values:
            raise NoValue(self.member)
        return list(self.words.get(values[self.member]) or ())

    def unwritten(self) -> list[tuple[str, Any]]:
        """Return (member, value) for each value that is written as no words at all, like a missing member."""
        flags: list[Any] = [False] if list(self.words) == [True] else []
        return [(self.member, value) for value in (*flags, *(value for value, words in self.words.items() if words is None))]

    def starts(self) -> list[str] | None:
        return [own[0] for own in self.words.values() if own]


@dataclass
class Placeholder:
    """One word with a value of a type. `absent` is the value that is written if the member is missing."""

    member: str
    type: ValueType
    absent: Any = None

    def __post_init__(self) -> None:
        self.members: tuple[str, ...] = (self.member,)
        self.needs: tuple[str, ...] = self.members if self.absent is None else ()

    def match(self, words: Sequence[str], at: int) -> tuple[int, Values] | None:
        if at >= len(words):
            return None
        try:
            return at + 1, {self.member: self.type.read(words[at])}
        except Unknowable:
            return at + 1, {}
        except ValueError:
            return None

    def write(self, values: Mapping[str, Any]) -> list[str]:
        value = values.get(self.member, self.absent)
        if value is None:
            raise NoValue(self.member)
        try:
            return [self.type.write(value)]
        except ValueError as error:
            raise BadValue(f"{self.member} in body: {error}", place=Place(member=self.member)) from None

    def starts(self) -> list[str] | None:
        return list(self.type.by_word) if isinstance(self.type, Choice) and self.type.strict else None


@dataclass
class Glued:
    """Literals and placeholders within one word: `set-map(<map_file>)`."""

    literals: Sequence[str]
    places: Sequence[Placeholder]
    pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        self.members: tuple[str, ...] = tuple(place.member for place in self.places)
        self.needs: tuple[str, ...] = tuple(member for place in self.places for member in place.needs)
        inner = "".join("(.+?)" + re.escape(literal) for literal in self.literals[1:])
        self.pattern = re.compile(re.escape(self.literals[0]) + inner, re.DOTALL)

    def match(self, words: Sequence[str], at: int) -> tuple[int, Values] | None:
        texts = self._split_word(words[at]) if at < len(words) else None
        if texts is None:
            return None
        values: Values = {}
        for place, text in zip(self.places, texts, strict=True):
            part = place.match([text], 0)
            if part is None:
                return None
            values |= part[1]
        return at + 1, values

    def _split_word(self, word: str) -> Sequence[str] | None:
        """Return the text of each placeholder in a word; None if the word does not match.

        Quotes may enclose several placeholders, as in "ops:se cret". Then each returned text has quotes of its own if it needs quotes.
        """
        if (matched := self.pattern.fullmatch(word)) and all(map(is_word, matched.groups())):
            return matched.groups()
        meant = self.pattern.fullmatch(unquoted(word)) if has_quotes(word) and is_word(word) else None
        if meant is None:
            return matched.groups() if matched else None
        return [text if is_word(text) and unquoted(text) == text else quoted(text) for text in meant.groups()]

    def write(self, values: Mapping[str, Any]) -> list[str]:
        pieces = [self.literals[0]]
        for place, literal in zip(self.places, self.literals[1:], strict=True):
            pieces += [*place.write(values), literal]
        return ["".join(pieces)]

    def starts(self) -> list[str] | None:
        return None


@dataclass
class Rest:
    """All words to the end of the line or, with `stops`, up to its condition.

    `arguments` maps some words to the number of their arguments. An argument `if` does not begin the condition.
    """

    member: str
    item: ValueType | None = None
    stops: bool = False
    examples: tuple[str, ...] = ()
    arguments: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.members: tuple[str, ...] = (self.member,)

    def match(self, words: Sequence[str], at: int) -> tuple[int, Values] | None:
        end = condition_at(words, at, self.arguments) if self.stops else len(words)
        if end <= at:
            return None
        if self.item is None:
            return end, {self.member: " ".join(words[at:end])}
        try:
            return end, {self.member: [self.item.read(word) for word in words[at:end]]}
        except (ValueError, Unknowable):
            return None

    def write(self, values: Mapping[str, Any]) -> list[str]:
        if self.member not in values:
            raise NoValue(self.member)
        value = values[self.member]
        if self.item is None:
            if not (text := many_words(str(value))):
                raise BadValue(f"{self.member} in body is blank", place=Place(member=self.member))
            return [text]
        return [self.item.write(element) for element in value]

    def starts(self) -> list[str] | None:
        return None


def condition_at(words: Sequence[str], at: int, arguments: Mapping[str, int] = NO_ARGUMENTS) -> int:
    """Return the index of the first `if` or `unless` outside braces and arguments; the number of words if there is no condition."""
    depth = 0
    while at < len(words):
        word = unquoted(words[at])
        if word in ("{", "!{"):
            depth += 1
        elif word == "}":
            depth -= 1
        elif depth == 0 and word in CONDITIONS:
            return at
        at = index_after(words, at, arguments)
    return len(words)


def index_after(words: Sequence[str], at: int, arguments: Mapping[str, int]) -> int:
    """Return the index after the word at `at` and its arguments.

    A flag before an argument may have arguments of its own, as in `name -m beg X-`.
    """
    end = at + 1
    for _ in range(arguments.get(unquoted(words[at]), 0) if arguments else 0):
        while end < len(words) and words[end].startswith("-") and words[end] in arguments:
            end = index_after(words, end, arguments)
        end += 1
    return min(end, len(words))


@dataclass
class MatchedWords:
    """The words `words[start:end]` of a line, which one node or one occurrence of a group has matched.

    `key`: (index of the node,) or (index of the options, index of the group, number of the occurrence); None for unknown words. `by`: the
    node that has matched the words, and that can write new words in their place.
    """

    key: tuple[int, ...] | None
    start: int
    end: int
    values: Values
    by: "Node | Chain | None" = None

    @property
    def hidden(self) -> bool:
        """Return whether the values are unknown because the words contain a variable, which only HAProxy can resolve."""
        return self.by is not None and bool(self.by.members) and not self.values


@dataclass
class Chain:
    """A sequence of nodes and of sets of groups (`Options`), in the order of the line."""

    nodes: Sequence["Node | Options"]

    @cached_property
    def members(self) -> tuple[str, ...]:
        return tuple(member for node in self.nodes for member in node.members)

    def required(self) -> tuple[str, ...]:
        """Return the members that must have values so that the chain can be written.

        A node with optional members lists its required members in `needs`. All members of any other node are required.
        """
        return tuple(member for node in self.nodes for member in getattr(node, "needs", node.members))

    def match(self, words: Sequence[str], at: int) -> tuple[int, Values] | None:
        values: Values = {}
        for node in self.nodes:
            matched = node.match(words, at)
            if matched is None:
                return None
            at, more = matched
            values |= more
        return at, values

    def parts(self, words: Sequence[str]) -> list[MatchedWords] | None:
        """Match a whole line and return its parts; None if the line does not match. Accepts unknown words after the last required node."""
        parts: list[MatchedWords] = []
        at = 0
        for number, node in enumerate(self.nodes):
            if isinstance(node, Options):
                own = node.match_groups(words, at, number, swallow=number == len(self.nodes) - 1)
                if own is None:
                    return None
                parts += own
                at = own[-1].end if own else at
                continue
            match = node.match(words, at)
            if match is None:
                return None
            parts.append(MatchedWords((number,), at, *match, node))
            at = match[0]
        parts += [MatchedWords(None, i, i + 1, {}) for i in range(at, len(words))]
        return parts

    def write(self, values: Mapping[str, Any]) -> list[str]:
        return [word for node in self.nodes for word in node.write(values)]

    def written(self, values: Mapping[str, Any]) -> Iterator[tuple[tuple[int, ...], list[str], Values]]:
        """Yield (key, words, values) of each part of a new line."""
        for number, node in enumerate(self.nodes):
            if isinstance(node, Options):
                yield from node.written(values, number)
            else:
                yield (number,), node.write(values), {member: values[member] for member in node.members if member in values}

    def starts(self) -> list[str] | None:
        return self.nodes[0].starts() if self.nodes else None


@dataclass(frozen=True)
class Join:
    """How the values of all occurrences of a keyword are joined to one value. `apart`: write each element to an occurrence of its own."""

    separator: str
    apart: bool = False

    def joined(self, chunks: Sequence[Any]) -> Any:
        """Join the values of all occurrences to one value."""
        return self.separator.join(chunks) if isinstance(chunks[0], str) else [element for chunk in chunks for element in chunk]

    def chunks(self, value: Any, old: Sequence[Any] = ()) -> list[Any]:
        """Split a value into one part for each occurrence of the keyword. Raises ValueError for an empty part.

        `old`: the parts of the existing occurrences. Leading parts are kept as long as the value begins with them.
        """
        rest = " ".join(words_of(many_words(value))) if isinstance(value, str) and self.separator == " " else value
        kept: list[Any] = []
        for index, part in enumerate(old):
            is_last = index + 1 == len(old)
            if not rest or (is_last and not self.apart) or rest[: len(part)] != part:
                break
            remainder = rest[len(part) :]
            if isinstance(rest, str) and remainder:
                if not remainder.startswith(self.separator):
                    break
                remainder = remainder[len(self.separator) :]
            kept.append(part)
            rest = remainder
        if not rest:
            return kept
        parts = rest.split(self.separator) if self.apart else [rest]
        if self.apart and not all(map(is_word, parts)):
            if not all(parts):
                raise ValueError(f"'{value}' has an empty part")
            parts = [rest]
        return [*kept, *parts]


@dataclass
class Group:
    """One group of a synopsis, with its synonyms."""

    # Reading tries them in order; writing uses the first whose required members are present.
    alternatives: Sequence[Chain]
    # The member whose elements are the occurrences of the group: a list, or a text with `join`.
    rows: str = ""
    repeated: bool = False
    join: Join | None = None
    # Whether every line has the group.
    required: bool = False
    # Whether earlier occurrences stay in the line, although the API shows only the last one.
    keep: bool = False
    # Words without a member that HAProxy accepts after the group, and the number of arguments of each.
    followers: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def members(self) -> tuple[str, ...]:
        return (self.rows,) if self.rows else tuple(dict.fromkeys(m for alternative in self.alternatives for m in alternative.members))

    @cached_property
    def needs(self) -> tuple[str, ...]:
        return self.alternatives[0].required() if self.required else ()

    @cached_property
    def is_open(self) -> bool:
        """Return whether the group has no fixed end, so that it extends to the next option.

        False for a condition, which ends with the line.
        """
        return not self.is_condition and any(isinstance(node, Rest) for alternative in self.alternatives for node in alternative.nodes)

    @cached_property
    def arguments(self) -> Mapping[str, int]:
        """Map each word that may be in an open group to the number of its arguments."""
        rests = [node for alternative in self.alternatives for node in alternative.nodes if isinstance(node, Rest)]
        return {word: count for rest in rests for word, count in rest.arguments.items()}

    @cached_property
    def is_condition(self) -> bool:
        return set(self.starts() or ("",)) <= set(CONDITIONS)

    def match(self, words: Sequence[str], at: int) -> tuple[Chain, int, Values] | None:
        """Return (the alternative that matches, index after the match, values); None if no alternative matches."""
        for alternative in self.alternatives:
            if matched := alternative.match(words, at):
                return alternative, *matched
        return None

    def write(self, values: Mapping[str, Any]) -> list[str]:
        """Return the words of the first alternative whose required members have values; no words if no member has a value.

        Raises BadValue if a required member has no value, and Incomplete if a condition has only one of its two members.
        """
        begun: list[tuple[str, str]] = []
        for alternative in self.alternatives:
            if given := next((member for member in alternative.members if member in values), None):
                lacking = next((member for member in alternative.required() if member not in values), None)
                if lacking is None:
                    return alternative.write(values)
                begun.append((given, lacking))
        for given, lacking in begun[:1]:
            refuse_half(self.members, values)
            raise BadValue(f"{given} set without {lacking}", place=Place(member=lacking))
        return []

    def starts(self) -> list[str] | None:
        firsts = [alternative.starts() for alternative in self.alternatives]
        return None if any(first is None for first in firsts) else [word for first in firsts for word in first or ()]


class Options:
    """A set of groups, which may come in any order."""

    def __init__(self, groups: Sequence[Group]) -> None:
        self.groups = groups
        self.members: tuple[str, ...] = tuple(member for group in groups for member in group.members)
        self.needs: tuple[str, ...] = tuple(member for group in groups for member in group.needs)
        self.required = frozenset(number for number, group in enumerate(groups) if group.required)
        self.keyed: dict[str, list[int]] = {}
        self.loose: list[int] = []
        # Groups that any word may begin. A second match is no repetition, so each matches only once unless it is `repeated`.
        self.unmarked: set[int] = set()
        for number, group in enumerate(groups):
            starts = group.starts()
            for word in starts or ():
                self.keyed.setdefault(word, []).append(number)
            if starts is None:
                self.loose.append(number)
                if not all(isinstance(each.nodes[0], Glued) and each.nodes[0].literals[0] for each in group.alternatives):
                    self.unmarked.add(number)
        self._groups_of_member: dict[str, list[int]] = {}
        for number, group in enumerate(groups):
            for member in group.members:
                self._groups_of_member.setdefault(member, []).append(number)

    def starts(self) -> list[str] | None:
        return None

    def match(self, words: Sequence[str], at: int) -> tuple[int, Values] | None:
        parts = self.match_groups(words, at, 0, swallow=False)
        return None if parts is None else (parts[-1].end if parts else at, merged(parts, self))

    def match_groups(self, words: Sequence[str], at: int, number: int, *, swallow: bool) -> list[MatchedWords] | None:
        """Match groups in any order from `at` on, and return their parts; None if a required group is missing.

        `number`: the index of these options in the line. `swallow`: accept unknown words.
        """
        parts: list[MatchedWords] = []
        used: dict[int, int] = {}
        while at < len(words):
            if option := self._match_option(words, at, used):
                group, by, end, values = option
                used[group] = used.get(group, -1) + 1
                parts.append(MatchedWords((number, group, used[group]), at, end, values, by))
                at = end
            elif swallow:
                parts.append(MatchedWords(None, at, at + 1, {}))
                at += 1
            else:
                break
        return parts if self.required <= used.keys() else None

    def _match_option(self, words: Sequence[str], at: int, used: Mapping[int, int]) -> tuple[int, Chain, int, Values] | None:
        """Return (index of the group, alternative, index after the match, values) of the first group that matches at `at`, or None.

        A group that matches a variable, whose value is unknown, is returned only if no other group matches.
        """
        hidden: tuple[int, Chain, int, Values] | None = None
        for number in [*(self.keyed.get(words[at]) or self._keyed(words[at])), *self.loose]:
            group = self.groups[number]
            if number in self.unmarked and number in used and not group.repeated:
                continue
            extent = words
            if group.is_open:
                # An open group ends at the first word that is not an argument and begins another group.
                end = index_after(words, at, group.arguments)
                while end < len(words) and self._keyed(words[end]) in ((), [number]):
                    end = index_after(words, end, group.arguments)
                extent = words[:end]
            if match := group.match(extent, at):
                if match[2] or not group.members:
                    return number, *match
                hidden = hidden or (number, *match)
        return hidden

    def _keyed(self, word: str) -> Sequence[int]:
        """Return the indices of the groups that can begin with `word`."""
        return self.keyed[word] if word in self.keyed else self.keyed.get(unquoted(word), ())

    def write(self, values: Mapping[str, Any]) -> list[str]:
        return [word for _, words, _ in self.written(values, 0) for word in words]

    def written(self, values: Mapping[str, Any], number: int) -> Iterator[tuple[tuple[int, ...], list[str], Values]]:
        # Test only the groups of members that have values: a line has few of a hundred possible options.
        for place in sorted({place for member in values for place in self._groups_of_member.get(member, ())}):
            group = self.groups[place]
            rows = values.get(group.rows, ()) if group.rows else (values,)
            for turn, row in enumerate(rows):
                own = flat_row(group.rows, row) if group.rows else {m: row[m] for m in group.members if m in row}
                if words := group.write(own):
                    yield (number, place, turn), words, own


def flat_row(rows: str, row: Any) -> Values:
    """Return the element `row` of the list member `rows` as flat values.

    The keys are `rows.name` for each member of an object, or `rows` for a plain value.
    """
    return {f"{rows}.{name}": value for name, value in row.items()} if isinstance(row, Mapping) else {rows: row}


def merged(parts: Sequence[MatchedWords], options: "Options | None" = None, nodes: Sequence["Node | Options"] = ()) -> Values:
    """Return the values of several parts. The occurrences of a group with `rows` are the elements of its list.

    Of any other group, the last occurrence takes precedence, whichever synonym it uses.
    """
    values: Values = {}
    for part in parts:
        if part.key is None:
            continue
        group = group_of(part.key, options or nodes[part.key[0]])
        if group is not None and group.rows:
            row = {name.removeprefix(group.rows + "."): value for name, value in part.values.items()}
            values.setdefault(group.rows, []).append(row[group.rows] if list(row) == [group.rows] else row)
        else:
            for name in group.members if group is not None and part.key[-1] else ():
                values.pop(name, None)
            values |= part.values
    return values


def group_of(key: tuple[int, ...], node: "Node | Options") -> Group | None:
    """Return the group that a part with this key belongs to; None if `node` is a single node."""
    return node.groups[key[1]] if isinstance(node, Options) and len(key) > 1 else None
