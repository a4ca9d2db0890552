"""Write values onto an existing line, and replace only the words whose value has changed."""

from collections.abc import Iterable, Sequence
from itertools import islice

from haproxy_native.errors import BadValue
from haproxy_native.grammar.synopsis import Chain, MatchedWords, NoValue, Options, Values, group_of
from haproxy_native.text.line_diff import changes
from haproxy_native.text.words import SplitLine, split, unquoted, words_of

Written = tuple[tuple[int, ...], list[str], Values]
# (the blanks before a word, the word)
Pair = tuple[str, str]
# (the identity of a part, or None for unknown words; its words)
Piece = tuple[tuple[int, ...] | None, list[Pair]]


def write_onto(old: SplitLine, parts: Sequence[MatchedWords], written: Iterable[Written], chain: Chain) -> list[Piece]:
    """Write new values onto an existing line, and return the pieces of the new line.

    Options that are missing from `written` are removed. New options are inserted in the order in which they are declared.
    """
    new = {key: (words, values) for key, words, values in written}
    last: dict[tuple[int, ...], MatchedWords] = {}
    old_values: dict[tuple[int, ...], Values] = {}
    for part in parts:
        if part.key is not None:
            key = identity(part, chain)
            last[key], old_values[key] = part, old_values.get(key, {}) | part.values
    pairs, pieces, removed = pairs_of(old), list[Piece](), 0
    for part in parts:
        if part.start < removed:
            continue
        own = pairs[part.start : part.end]
        key = identity(part, chain)
        if part.key is not None and not (part.hidden and key not in new):
            group = group_of(key, chain.nodes[key[0]])
            if key not in new and (last[key] is part or not (group and group.keep)):
                # The followers of an option belong to the option, but express no member.
                removed = part.end
                while group and removed < len(old.words) and (word := unquoted(old.words[removed])) in group.followers:
                    removed += 1 + group.followers[word]
                continue
            if key in new and last[key] is part and new[key][1] != old_values[key]:
                own = edited_words(own, part, *new[key])
        pieces.append((part.key and key, own))
    present = {key for key, _ in pieces}
    for key, (words, _) in new.items():
        if key not in present:
            # Insert a new option after the last option that is declared before it, and after the unknown words that follow that option.
            keys = [piece for piece, _ in pieces]
            index = max((i + 1 for i, other in enumerate(keys) if other is not None and other < key), default=0)
            while index < len(keys) and keys[index] is None:
                index += 1
            pieces.insert(index, (key, with_gaps_of([], words)))
    return pieces


def rewrite_words(old: SplitLine, parts: Sequence[MatchedWords], written: Iterable[Written]) -> list[Piece]:
    """Return the pieces of the new line for another synopsis. Words that the old line also has keep their spelling."""
    own = pairs_of(old)
    new = [(key, split_with_gaps(words)) for key, words, _ in written]
    flat = keep_spelling(
        own, [word for part in parts for word in usual_words(part, own[part.start : part.end])], [pair for _, own_ in new for pair in own_]
    )
    # The first gap is the indent, whichever word follows.
    flat = [(old.gaps[0] if place == 0 else " " if pair is own[0] else pair[0], pair[1]) for place, pair in enumerate(flat)]
    words = iter(flat)
    return [(key, list(islice(words, len(own_)))) for key, own_ in new]


def edited_words(own: Sequence[Pair], part: MatchedWords, words: Sequence[str], values: Values) -> list[Pair]:
    """Return the words of a part for new values. The synonym that the line uses, and words whose value does not change, are kept."""
    by = part.by
    if isinstance(by, Chain) and set(by.required()) <= set(values) <= set(by.members):
        words = by.write(values)
    return keep_spelling(own, usual_words(part, own), split_with_gaps(words))


def usual_words(part: MatchedWords, own: Sequence[Pair]) -> list[str]:
    """Return the words of a part in the usual spelling. If the usual spelling has another number of words, return the words unchanged."""
    try:
        words = [word for _, word in split_with_gaps(part.by.write(part.values) if part.by else ())]
    except (NoValue, BadValue):
        words = []
    return words if len(words) == len(own) else [word for _, word in own]


def keep_spelling(own: Sequence[Pair], before: Sequence[str], after: Sequence[Pair]) -> list[Pair]:
    """Return the words `after`. Words that the old line also has keep their spelling and gap.

    `own`: the words of the old line. `before`: the same words in their usual spelling, in which they are compared.
    """
    result, at = list[Pair](), 0
    for (start, end), (new_start, new_end) in changes(before, [word for _, word in after]):
        result += own[at:start]
        result += [(own[start + i][0] if start + i < end else gap, word) for i, (gap, word) in enumerate(after[new_start:new_end])]
        at = end
    return [*result, *own[at:]]


def pairs_of(line: SplitLine) -> list[Pair]:
    return list(zip(line.gaps, line.words, strict=True))


def split_with_gaps(words: Iterable[str]) -> list[Pair]:
    """Split texts into words, each with the gap before it."""
    return [(gap or " ", word) for text in words for gap, word in zip(*split(text)[:2], strict=True)]


def join_pieces(pieces: Iterable[Piece], tail: str) -> SplitLine:
    flat = [pair for _, own in pieces for pair in own]
    return SplitLine(tuple(gap for gap, _ in flat), tuple(word for _, word in flat), tail)


def first_misread(pieces: Sequence[Piece], parts: Sequence[MatchedWords], chain: Chain) -> Piece | None:
    """Return the first piece that is not parsed as it was written; None if there is no such piece. `parts`: the result of parsing."""
    sizes = [(key, sum(len(words_of(word)) for _, word in own)) for key, own in pieces]
    written = _united(sizes, chain)
    parsed = _united([(part.key and identity(part, chain), part.end - part.start) for part in parts], chain)
    for index, (key, size) in enumerate(written):
        if index == len(parsed) or parsed[index] != (key, size):
            return next(piece for piece in pieces if piece[0] == key or (piece[0] and key and piece[0][:2] == key))
    return None


def _united(sizes: Iterable[tuple[tuple[int, ...] | None, int]], chain: Chain) -> list[tuple[tuple[int, ...] | None, int]]:
    """Return (key, number of words) of each part. Adjacent occurrences that express one text count as one part."""
    united: list[tuple[tuple[int, ...] | None, int]] = []
    for key, size in sizes:
        group = group_of(key, chain.nodes[key[0]]) if key else None
        if key and group and group.join and group.starts() is None:
            key = key[:2]
            size += united.pop()[1] if united and united[-1][0] == key else 0
        if size:
            united.append((key, size))
    return united


def identity(part: MatchedWords, chain: Chain) -> tuple[int, ...]:
    """Return the key that identifies a part. Each element of a list has its own key. All occurrences of another option share a key."""
    if part.key is None or len(part.key) < 3:
        return part.key or ()
    owner = chain.nodes[part.key[0]]
    is_row = isinstance(owner, Options) and bool(owner.groups[part.key[1]].rows)
    return part.key if is_row else (*part.key[:2], 0)


def with_gaps_of(old: Sequence[Pair], words: Sequence[str]) -> list[Pair]:
    """Return the words, each with the gap of the old word at the same index. Words without such an old word get one blank."""
    return [(old[i][0] if i < len(old) else " ", word) for i, word in enumerate(words)]
