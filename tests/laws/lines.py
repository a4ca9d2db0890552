"""The laws of one line. Each is a function that asserts a law for a shape and an object that a line of the shape can express."""

from collections.abc import Iterable, Mapping
from typing import Any

from haproxy_native.errors import UnknownWords
from haproxy_native.grammar.line_shape import METADATA, LineReading, LineShape, is_metadata, read_metadata
from haproxy_native.grammar.values import escaped_word
from haproxy_native.text.line import Line
from haproxy_native.text.words import normalized, split, unquoted, words_of

Object = Mapping[str, Any]


def read(shape: LineShape, line: Line) -> dict[str, Any]:
    found = shape.read(line)
    assert found is not None, f"not read: {line.text!r}"
    return found


def taken(shape: LineShape, line: Line) -> LineReading:
    found = shape.parse_words(line.words)
    assert found is not None, f"not read: {line.text!r}"
    return found


def is_read_back(shape: LineShape, values: Object) -> None:
    """Assert that a written object is read back, and that the object that was read is written and read the same."""
    line = shape.new(values)
    found = read(shape, line)
    assert taken(shape, line).unknown == [], f"not all of its words are known: {line.text!r}"
    for name, value in values.items():
        # A word is read without quotes that it does not need.
        plain = normalized(value) if isinstance(value, str) else value
        assert found.get(name) in (value, plain), f"{line.text!r} was written for {values}"
    assert read(shape, shape.new(found)) == found, f"{found} was read from {line.text!r}"


def is_told(shape: LineShape, values: Object, line: Line) -> None:
    """Assert that each member is read from the line. HAProxy may read a text that is not exactly the words of a line in its own way.

    A value that is written as no words is not read, or is the value of its member without words.
    """
    found = read(shape, line)
    for name, value in values.items():
        said = found.get(name)
        if isinstance(value, str) and (name, value) in shape.silent:
            assert said in (None, value), f"{name}: {value!r} became {said!r} in {line.text!r}"
            continue
        assert said == value or is_same(value, said), f"{name}: {value!r} became {said!r} in {line.text!r}"


def is_same(value: Any, said: Any) -> bool:
    """Return whether two values mean the same to HAProxy. An empty value is the same as None."""
    if value is None or value is False or value in ("", [], {}):
        return said is None
    if isinstance(value, Mapping) and isinstance(said, Mapping):
        return all(is_same(each, said.get(name)) for name, each in value.items())
    if isinstance(value, list) and isinstance(said, list):
        return len(value) == len(said) and all(map(is_same, value, said))
    if isinstance(value, str) and isinstance(said, str):
        words = words_of(said)
        plain_words, pieces = tuple(map(unquoted, words)), value.split()
        each = len(pieces) == len(words) and all(map(lambda piece, *variants: piece in variants, pieces, words, plain_words))
        whole = value == "".join(plain_words) or said == escaped_word(value)
        return each or words == words_of(value) or whole or plain_words == literally(value)
    return bool(value == said)


def literally(value: str) -> tuple[str, ...]:
    """Return the words of a text, in which `#` does not begin a comment."""
    taken = split(value)
    words, rest = [unquoted(word) for word in taken.words], taken.tail.split()
    if words and rest and taken.tail.startswith("#"):
        words[-1] += rest.pop(0)
    return (*words, *rest)


def stays(shape: LineShape, line: Line) -> None:
    """Assert that an edit with the object of a line does not change the line."""
    found = read(shape, line)
    assert shape.onto(line, found) is line, f"{found} made {shape.onto(line, found).text!r} of {line.text!r}"


def becomes(shape: LineShape, old: Line, values: Object) -> None:
    """Assert that an edit of a line writes any new object. The comment of the line stays, unless it has metadata."""
    new = shape.onto(old, values)
    wanted = read(shape, shape.new(values))
    if shape.metadata and not values.get(METADATA) and old.comment and not is_metadata(old.comment):
        wanted |= {METADATA: read_metadata(old.comment)}
    assert read(shape, new) == wanted, f"{old.text!r} became {new.text!r} for {values}"
    assert new.indent == old.indent
    if not shape.metadata:
        assert new.split.tail == old.split.tail
    stays(shape, new)


def changes_only_what_is_asked(shape: LineShape, old: Line, values: Object) -> None:
    """Assert that parts with the same value before and after an edit keep their bytes, and the blanks before them."""
    before = parts_of(shape, old)
    after = parts_of(shape, shape.onto(old, values))
    wanted = {key: said for key, (said, _) in parts_of(shape, shape.new(values)).items()}
    for key, (said, text) in before.items():
        if wanted.get(key, "absent") == said and key in after:
            assert after[key][1] == text, f"{text!r} became {after[key][1]!r} in {old.text!r} for {values}"


def parts_of(shape: LineShape, line: Line) -> dict[Any, tuple[Any, str]]:
    """Return the value and the bytes of each part of a line."""
    reading, split = taken(shape, line), line.split
    text = [gap + word for gap, word in zip(split.gaps, split.words, strict=True)]
    number = shape.alternatives.index(reading.alternative)
    return {(number, part.key): (part.values, "".join(text[part.start : part.end])) for part in reading.parts if part.key is not None}


def unknown_survives(shape: LineShape, line: Line, values: Object) -> None:
    """Assert that unknown words stay after an edit of other words."""
    before = taken(shape, line)
    if not before.unknown:
        return
    try:
        after = shape.onto(line, values)
    except UnknownWords as refused:
        keyword = refused.place and refused.place.keyword
        assert keyword in line.words, f"{line.text!r}: the error names {keyword}"
        return
    reading = taken(shape, after)
    if reading.alternative is before.alternative:
        assert [after.words[i] for i in reading.unknown] == [line.words[i] for i in before.unknown], f"{line.text!r}: {after.text!r}"


def only_its_own(shape: LineShape, values: Object, others: Iterable[LineShape]) -> None:
    """Assert that no other shape of a family reads a whole line of this shape."""
    line = shape.new(values)
    claimed = [other.explain() for other in others if (found := other.parse_words(line.words)) and not found.unknown]
    assert claimed == [], f"{line.text!r} is also one of {claimed}"
