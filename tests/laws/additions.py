"""Add options to lines: to a line without options, and to a line with two other options in either order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from haproxy_native.grammar.line_shape import Alternative, LineShape, unflattened
from haproxy_native.grammar.merge import Written
from haproxy_native.grammar.synopsis import Options
from haproxy_native.text.line import Line
from tests.laws.cases import Subject, sensible, subjects
from tests.samples import completed, optional, required

Members = Mapping[str, Any]
# If a line has more options than this, each option is combined only with its neighbors.
FEW = 14


@dataclass(frozen=True)
class Addition:
    """An option that is added to a line of one kind."""

    subject: Subject
    line: str
    members: Members

    @cached_property
    def result(self) -> str:
        """Return the line with the option added."""
        return onto(self.subject.shape, self.line, self.members)

    @property
    def is_exclusive(self) -> bool:
        """Return whether the option excludes an option of the line."""
        names = {*self.members, *(self.subject.shape.read(Line(self.line)) or {})}
        return any(len(names & set(group)) > 1 for group in self.subject.shape.exclusive)

    def elsewhere(self) -> Iterator[str]:
        """Yield the line with the words of the option at each position."""
        words, added = list(Line(self.line).words), list(Line(self.result).words)
        size = len(added) - len(words)
        start = next((at for at, word in enumerate(words) if word != added[at]), len(words))
        own = added[start : start + size]
        yield from (" ".join([*words[:at], *own, *words[at:]]) for at in range(1, len(words) + 1))


@dataclass(frozen=True)
class Plain:
    """A line of one alternative with its required members, and its possible options, each with a value."""

    subject: Subject
    alternative: Alternative
    base: Members
    options: Sequence[Members]

    @cached_property
    def line(self) -> str:
        return self.subject.shape.new(unflattened(dict(self.base))).text.strip()

    def alone(self) -> Iterator[Addition]:
        yield from (Addition(self.subject, self.line, unflattened(dict(option))) for option in self.options)

    def beside(self, taken: Sequence[Members]) -> Iterator[Addition]:
        """Yield the addition of each option to a line with two others, in one order or the other."""
        for number, option in enumerate(taken):
            others = [*taken[number + 1 :], *taken[:number]]
            chosen = others if len(taken) <= FEW else [others[0], others[1], others[-1]]
            for turn, first in enumerate(chosen):
                second = chosen[turn - 1]
                present = [first] if second is first else [first, second] if turn % 2 else [second, first]
                if line := self._with(present):
                    yield Addition(self.subject, line, unflattened(dict(option)))

    def _with(self, options: Sequence[Members]) -> str | None:
        """Return the line with these options in this order.

        Return None if the shape writes an option at another position, or if a condition would come before another option.
        """
        bare = self._pieces(self.base)
        known = {key for key, _, _ in bare}
        own = [[piece for piece in self._pieces({**self.base, **option}) if piece[0] not in known] for option in options]
        added = [piece for each in own for piece in each]
        if (
            not all(own)
            or len({piece[0][0] for piece in added}) > 1
            or any(self._is_condition(piece) for each in own[:-1] for piece in each)
        ):
            return None
        first = min(piece[0] for piece in added)
        ordered = [*(piece for piece in bare if piece[0] < first), *added, *(piece for piece in bare if piece[0] > first)]
        return " ".join(word for _, words, _ in ordered for word in words)

    def _pieces(self, values: Members) -> list[Written]:
        return self.subject.shape.written(self.alternative, dict(values))

    def _is_condition(self, piece: Written) -> bool:
        node = self.alternative.chain.nodes[piece[0][0]]
        return isinstance(node, Options) and node.groups[piece[0][1]].is_condition


def onto(shape: LineShape, line: str, members: Members) -> str:
    old = Line(line + "\n")
    return shape.onto(old, {**(shape.read(old) or {}), **members}).text.strip()


def plain_lines() -> Iterator[Plain]:
    for subject in subjects():
        shape = subject.shape
        for alternative in shape.alternatives:
            richest = [max(variants, key=len) for variants in optional(alternative.chain)]
            base = completed({**alternative.fixed, **next(required(alternative.chain))}, [[each] for each in richest], shape)
            options = [flat(each) for each in richest if not set(each) <= set(base)]
            if options and set(shape.needed) <= set(base):
                yield Plain(subject, alternative, flat(base), options)


def flat(values: Members) -> Members:
    """Replace sample texts by the values in referee.toml, for members that need a special form."""
    return {name: sensible(value, name.rpartition(".")[2]) for name, value in values.items()}
