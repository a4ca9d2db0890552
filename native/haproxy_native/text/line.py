"""One line of a configuration: its original text, split on demand."""

from typing import Any

from haproxy_native.text.words import BLANKS, SplitLine, has_quotes, split, unquoted, words_of


class Line:
    """An immutable line with its line end. `words`, `args` and `split` are computed on first use.

    `meaning` is a cache for the grammar: (the shape that read the line, the result).
    """

    __slots__ = ("_args", "_split", "_words", "meaning", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._words: tuple[str, ...] | None = None
        self._args: tuple[str, ...] | None = None
        self._split: SplitLine | None = None
        self.meaning: tuple[Any, Any] | None = None

    @property
    def words(self) -> tuple[str, ...]:
        if self._words is None:
            self._words = words_of(self.text)
        return self._words

    @property
    def args(self) -> tuple[str, ...]:
        """Return the words without quotes and escapes, as HAProxy compares them with keywords."""
        if self._args is None:
            self._args = tuple(map(unquoted, self.words)) if has_quotes(self.text) else self.words
        return self._args

    @property
    def split(self) -> SplitLine:
        if self._split is None:
            self._split = split(self.text)
        return self._split

    @property
    def comment(self) -> str | None:
        """Return the text of the comment, without `#`; None if the line has no comment."""
        return self.split.comment if "#" in self.text else None

    @property
    def is_blank(self) -> bool:
        return not self.text.strip(BLANKS + "\n")

    @property
    def is_comment(self) -> bool:
        return self.text.lstrip(BLANKS).startswith("#")

    @property
    def indent(self) -> str:
        return self.text[: len(self.text) - len(self.text.lstrip(" \t"))]

    def __repr__(self) -> str:
        return f"Line({self.text!r})"
