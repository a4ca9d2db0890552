"""Writes values onto an existing line: only words whose value changed are replaced."""

from collections.abc import Iterable, Sequence

from haproxy_native.grammar.synopsis import Chain, Group, Options, Part, Rest, Values
from haproxy_native.text.words import Split, words_of

Written = tuple[tuple[int, ...], list[str], Values]
Piece = tuple[tuple[int, ...] | None, list[tuple[str, str]]]
"""What a part is matched by, None for unknown words, and its gaps and words."""


def onto(old: Split, parts: Sequence[Part], written: Iterable[Written], chain: Chain, *, free: bool) -> list[Piece]:
    """The old line with the parts that `written` asks for; `free` puts new options last instead of in declared order."""
    new = {key: (words, values) for key, words, values in written}
    last = {identity(part, chain): part for part in parts if part.key is not None}
    pieces: list[Piece] = []
    for part in parts:
        own = list(zip(old.gaps[part.start : part.end], old.words[part.start : part.end], strict=True))
        key = identity(part, chain)
        if part.key is not None and not (part.hidden and key not in new):
            if key not in new:
                continue
            if last[key] is part and new[key][1] != part.values and not _is_same(own, new[key][0]):
                own = regapped(own, new[key][0])
        pieces.append((part.key and key, own))
    present = {key for key, _ in pieces}
    for key, (words, _) in new.items():
        if key not in present:
            pieces.insert(_place(key, [piece for piece, _ in pieces], chain, free=free), (key, regapped([], words)))
    return pieces


def _is_same(old: Sequence[tuple[str, str]], words: Sequence[str]) -> bool:
    """Whether new words, which may hold blanks of their own, are the old ones."""
    return [word for _, word in old] == [part for word in words for part in words_of(word)]


def joined(pieces: Iterable[Piece], tail: str) -> Split:
    flat = [pair for _, own in pieces for pair in own]
    return Split(tuple(gap for gap, _ in flat), tuple(word for _, word in flat), tail)


def misread(pieces: Iterable[Piece], parts: Sequence[Part], chain: Chain) -> Piece | None:
    """The first piece that is not read as what it was written for."""
    matched = [(part.key and identity(part, chain), part.end - part.start) for part in parts if part.end > part.start]
    for i, (key, own) in enumerate(piece for piece in pieces if piece[1]):
        if i == len(matched) or matched[i] != (key, sum(len(words_of(word)) for _, word in own)):
            return key, own
    return None


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


def _place(key: tuple[int, ...], keys: Sequence[tuple[int, ...] | None], chain: Chain, *, free: bool) -> int:
    place = 0
    for i, other in enumerate(keys):
        if other is None:
            place = i + 1 if free or _closes(key, chain) else place
        elif other < key or (free and other[0] == key[0] and not _closes(other, chain)):
            place = i + 1
    return place


def _closes(key: tuple[int, ...], chain: Chain) -> bool:
    """Whether the group takes all that is left of the line, like a condition."""
    owner = chain.nodes[key[0]]
    return isinstance(owner, Options) and len(key) > 1 and _is_endless(owner.groups[key[1]])


def _is_endless(group: Group) -> bool:
    nodes = [node for alternative in group.alternatives for node in alternative.nodes]
    inner = [group for node in nodes if isinstance(node, Options) for group in node.groups]
    return any(isinstance(node, Rest) for node in nodes) or any(map(_is_endless, inner))
