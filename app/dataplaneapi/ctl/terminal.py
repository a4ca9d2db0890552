"""What a terminal is shown and a file is not: colours, and one line that says how far something is."""

import os
import sys
from types import TracebackType
from typing import Self, TextIO

# Back to the first column, and all behind it removed.
CLEAR = "\r\x1b[K"


def is_terminal(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def has_colours(stream: TextIO) -> bool:
    """Whether to use colours on a stream, as https://no-color.org defines it."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


class Progress:
    """One line on standard error, written anew each time and removed at the end; nothing where that is no terminal."""

    def __init__(self) -> None:
        self._is_shown = is_terminal(sys.stderr)

    def say(self, text: str) -> None:
        if self._is_shown:
            width = os.get_terminal_size(sys.stderr.fileno()).columns or 80
            sys.stderr.write(CLEAR + text[: width - 1])
            sys.stderr.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._is_shown:
            sys.stderr.write(CLEAR)
            sys.stderr.flush()


def height(stream: TextIO) -> int:
    """Lines of a terminal."""
    return os.get_terminal_size(stream.fileno()).lines or 24
