"""Asks a real HAProxy how it splits lines: from 3.0 on through the arguments of a Lua file, before through `.notice`.

`.notice` shows one word only, so an older binary is asked for the first word of what is left behind each word of ours.
"""

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from haproxy_native.text.words import split
from tests.haproxy import binaries

# Variables that stand for their own text, so that an expanded word is the word as it was.
VARIABLES = {"X": "${X}", "Y": "$Y", "Z": '${Z-a"b}'}
_LUA = b"""
local words = table.pack(...)
for i = 1, words.n do words[i] = words[i]:gsub(".", function(byte) return string.format("%02x", byte:byte()) end) end
io.stderr:write("WORDS ", table.concat(words, " "), "\\n")
"""


class Oracle:
    """One binary in a directory of its own."""

    def __init__(self, version: str, directory: Path) -> None:
        self.binary, self.directory = binaries.exactly(version), directory
        self.speaks_lua = binaries.version(self.binary) >= (3, 0)
        (directory / "w.lua").write_bytes(_LUA)

    def faults(self, lines: Sequence[str]) -> dict[int, str]:
        """What HAProxy says against each line it cannot split, by index; for at most 40 lines."""
        head = [b"global"]
        answer = self._run([*head, *(b"zork " + encoded(line) for line in lines)]).stderr.decode("latin-1")
        found = re.findall(r"parsing \[w\.cfg:(\d+)\]: (.*?) at position", answer)
        return {int(number) - len(head) - 1: text for number, text in found if "is empty" not in text}

    def can_tell(self, line: str) -> bool:
        """`.notice` before 3.0 reads its line twice and has damaged a variable's default by then."""
        return self.speaks_lua or "-a" not in line

    def words(self, lines: Sequence[str]) -> list[list[str]]:
        """The words of each line as HAProxy understands them, up to the first empty one."""
        return self._by_lua(lines) if self.speaks_lua else self._by_notice(lines)

    def _by_lua(self, lines: Sequence[str]) -> list[list[str]]:
        head = [b"global", b"tune.lua.bool-sample-conversion normal"]
        answer = self._run([*head, *(b"lua-load w.lua " + encoded(line) for line in lines)]).stderr
        answers = re.findall(rb"^WORDS ?(.*)$", answer, re.MULTILINE)
        return [[bytes.fromhex(word).decode("utf-8", "surrogateescape") for word in each.decode().split()] for each in answers]

    def _by_notice(self, lines: Sequence[str]) -> list[list[str]]:
        rests = [rests_of(line) for line in lines]
        asked = [rest for each in rests for rest in each]
        first = iter([word for i in range(0, len(asked), 40) for word in self._first_words(asked[i : i + 40])])
        return [up_to_empty([next(first) for _ in each]) for each in rests]

    def _first_words(self, rests: Sequence[str]) -> list[str]:
        """`.notice` takes one word and quotes the next one, where there is one, in its complaint."""
        answer = self._run([b".notice x" + encoded(rest) for rest in rests]).stderr.decode("utf-8", "surrogateescape")
        messages = re.findall(r"parsing \[w\.cfg:(\d+)\]: Unexpected argument '(.*?)' for '\.notice'", answer, re.DOTALL)
        found = {int(number) - 1: word for number, word in messages}
        return [found.get(i, "") for i in range(len(rests))]

    def _run(self, lines: Sequence[bytes], *options: str) -> subprocess.CompletedProcess[bytes]:
        (self.directory / "w.cfg").write_bytes(b"\n".join(lines) + b"\n")
        return subprocess.run(
            [self.binary, *options, "-c", "-f", "w.cfg"],
            cwd=self.directory,
            env={**os.environ, **VARIABLES},
            capture_output=True,
            check=False,
            timeout=60,
        )


def encoded(line: str) -> bytes:
    return line.encode("utf-8", "surrogateescape")


def rests_of(line: str) -> list[str]:
    """What is left of a line before each of its words, and behind the last one."""
    taken = split(f"x {line}\n")
    sizes = [len(gap + word) for gap, word in zip(taken.gaps[1:], taken.words[1:], strict=True)]
    return [f" {line}"[sum(sizes[:i]) :] for i in range(len(sizes) + 1)]


def up_to_empty(words: list[str]) -> list[str]:
    return words[: words.index("")] if "" in words else words
