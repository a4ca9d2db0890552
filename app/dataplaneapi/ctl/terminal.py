"""What only a terminal shows, and no file: colours, and a line with the progress of a call.

Names, comments and messages come from others, and may hold sequences that move the cursor, hide text or type for the user. Everything that
`ctl` prints goes through `Output`, which escapes all control characters, those of C1 and of bidirectional text included, if it writes to a
terminal. The sequences of this program begin with ESCAPE, which nobody else knows.
"""

import os
import re
import sys
from types import TracebackType
from typing import Any, Self, TextIO

# Stands for the escape character in the sequences of this program.
ESCAPE = f"\x1b{os.urandom(8).hex()}"
# Back to the first column, and all behind it removed.
CLEAR = f"{ESCAPE}[G{ESCAPE}[K"
_LONE = r"\ud800-\udfff"
_UNSAFE = re.compile(rf"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff{_LONE}]")
_UNWRITABLE = re.compile(rf"[{_LONE}]")


class Output:
    """A text stream that shows what must not reach its terminal as `\\uXXXX`, as JSON does. A file gets everything that can be encoded."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._escaped = _UNSAFE if stream.isatty() else _UNWRITABLE

    def write(self, text: str) -> int:
        parts = (self._escaped.sub(lambda found: f"\\u{ord(found[0]):04x}", part) for part in text.split(ESCAPE))
        return self._stream.write("\x1b".join(parts))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


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
