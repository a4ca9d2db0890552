"""Writes values onto an existing line: only words whose value changed are replaced."""

from collections.abc import Iterable, Sequence

from haproxy_native.errors import BadValue
from haproxy_native.grammar.synopsis import Chain, NoValue, Options, Part, Values, group_of
from haproxy_native.text.line_diff import changes
from haproxy_native.text.words import Split, split, words_of

Written = tuple[tuple[int, ...], list[str], Values]
Piece = tuple[tuple[int, ...] | None, list[tuple[str, str]]]
"""What a part is matched by, None for unknown words, and its gaps and words."""


def onto(old: Split, parts: Sequence[Part], written: Iterable[Written], chain: Chain) -> list[Piece]:
    """The old line with the parts that `written` asks for; new options go last."""
    new = {key: (words, values) for key, words, values in written}
    last: dict[tuple[int, ...], Part] = {}
    said: dict[tuple[int, ...], Values] = {}
    for part in parts:
        if part.key is not None:
            key = identity(part, chain)
            last[key], said[key] = part, said.get(key, {}) | part.values
    pieces: list[Piece] = []
    for part in parts:
        own = list(zip(old.gaps[part.start : part.end], old.words[part.start : part.end], strict=True))
        key = identity(part, chain)
        if part.key is not None and not (part.hidden and key not in new):
            if key not in new:
                continue
            if last[key] is part and new[key][1] != said[key]:
                own = edited(own, part, *new[key])
        pieces.append((part.key and key, own))
    present = {key for key, _ in pieces}
    for key, (words, _) in new.items():
        if key not in present:
            pieces.insert(_place(key, [piece for piece, _ in pieces], chain), (key, regapped([], words)))
    return pieces


def edited(own: Sequence[tuple[str, str]], part: Part, words: Sequence[str], values: Values) -> list[tuple[str, str]]:
    """The words of a part for other values, by the synonym that stands there; those that say the same stay as they are."""
    by = part.by
    if isinstance(by, Chain) and set(by.required()) <= set(values) <= set(by.members):
        words = by.write(values)
    after = spaced(words)
    try:
        before = [word for _, word in spaced(by.write(part.values) if by else ())]
    except (NoValue, BadValue):
        before = []
    if len(before) != len(own):
        return regapped(own, [word for _, word in after])
    result, at = list[tuple[str, str]](), 0
    for (start, end), (there, until) in changes(before, [word for _, word in after]):
        result += own[at:start]
        result += [(own[start + i][0] if start + i < end else gap, word) for i, (gap, word) in enumerate(after[there:until])]
        at = end
    return [*result, *own[at:]]


def spaced(words: Iterable[str]) -> list[tuple[str, str]]:
    """The words of texts, each with the gap before it."""
    return [(gap or " ", word) for text in words for gap, word in zip(*split(text)[:2], strict=True)]


def joined(pieces: Iterable[Piece], tail: str) -> Split:
    flat = [pair for _, own in pieces for pair in own]
    return Split(tuple(gap for gap, _ in flat), tuple(word for _, word in flat), tail)


def misread(pieces: Sequence[Piece], parts: Sequence[Part], chain: Chain) -> Piece | None:
    """The first piece that is not read as what it was written for; pieces of a text that stand together are read as one."""
    sizes = [(key, sum(len(words_of(word)) for _, word in own)) for key, own in pieces]
    wanted = _united(sizes, chain)
    found = _united([(part.key and identity(part, chain), part.end - part.start) for part in parts], chain)
    for place, (key, size) in enumerate(wanted):
        if place == len(found) or found[place] != (key, size):
            return next(piece for piece in pieces if piece[0] == key or (piece[0] and key and piece[0][:2] == key))
    return None


def _united(sizes: Iterable[tuple[tuple[int, ...] | None, int]], chain: Chain) -> list[tuple[tuple[int, ...] | None, int]]:
    """How many words each part has."""
    united: list[tuple[tuple[int, ...] | None, int]] = []
    for key, size in sizes:
        group = group_of(key, chain.nodes[key[0]]) if key else None
        if key and group and group.join and group.starts() is None:
            key = key[:2]
            size += united.pop()[1] if united and united[-1][0] == key else 0
        if size:
            united.append((key, size))
    return united


def identity(part: Part, chain: Chain) -> tuple[int, ...]:
    """What a part is matched by: rows of a list by their turn, an option said twice by its group alone."""
    if part.key is None or len(part.key) < 3:
        return part.key or ()
    owner = chain.nodes[part.key[0]]
    is_row = isinstance(owner, Options) and bool(owner.groups[part.key[1]].rows)
    return part.key if is_row else (*part.key[:2], 0)


def regapped(old: Sequence[tuple[str, str]], words: Sequence[str]) -> list[tuple[str, str]]:
    """New words in the gaps of the old ones; one blank where there was none."""
    return [(old[i][0] if i < len(old) else " ", word) for i, word in enumerate(words)]


def _place(key: tuple[int, ...], keys: Sequence[tuple[int, ...] | None], chain: Chain) -> int:
    """Where a new option goes: behind all that may stand before it, but for a condition, which ends the line."""
    place = 0
    for i, other in enumerate(keys):
        if other is None or other < key or (other[0] == key[0] and not _is_condition(other, chain)):
            place = i + 1
    return place


def _is_condition(key: tuple[int, ...], chain: Chain) -> bool:
    group = group_of(key, chain.nodes[key[0]])
    return group is not None and group.is_condition
