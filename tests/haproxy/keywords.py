"""Find the keywords of each HAProxy binary: those that it lists itself, and those that only its parser has.

To find out whether the parser has a word, compare HAProxy's error about a line that has the word with its error about the same line that
has a meaningless word. If they differ, the parser has the word.
"""

import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from openapi.keywords import FACTS, Facts, Group, groups
from tests.haproxy import binaries

GROUPS = groups()
NONE = "zork"
# HAProxy stops after twenty errors.
AT_ONCE = 15
_ALERT = re.compile(r"\[ALERT\][^\[]*\[words\.cfg:(\d+)\] ?: ((?:.|\n(?!\[))*)")
_RULES = ("tcp-request connection", "tcp-request session", "tcp-request content", "tcp-response content")


@cache
def release(binary: str) -> str:
    """Return the whole version of a binary, such as 3.2.26."""
    output = subprocess.run([binary, "-v"], capture_output=True, text=True, check=True).stdout
    match = re.search(r"version (\d+\.\d+\.\d+)", output)
    assert match, output
    return match[1]


def facts() -> Facts:
    """Return the keywords of all binaries. Raises AssertionError unless all of binaries.WANTED are available."""
    every = {wanted: binary for wanted in binaries.WANTED if (binary := binaries.fetched(wanted))}
    assert set(every) == set(binaries.WANTED), f"only {list(every)} of {binaries.WANTED} are to be had"
    own = {version: set(listed(binary)) for version, binary in every.items()}
    words = sorted({(name, word) for name, group in GROUPS.items() for word in group.by_hand}.union(*own.values()))
    for version, binary in every.items():
        # Some words that a later version lists are only in the parser of an earlier version.
        own[version] |= set(parsed(binary, [each for each in words if each not in own[version] and GROUPS[each[0]].sections]))
    by_word: dict[str, dict[str, tuple[str, ...]]] = {name: {} for name in GROUPS}
    for name, word in words:
        by_word[name][word] = tuple(version for version in own if (name, word) in own[version])
    return Facts({version: release(binary) for version, binary in every.items()}, {name: found for name, found in by_word.items() if found})


def listed(binary: str) -> Iterator[tuple[str, str]]:
    """Yield (group, word) for each entry in the binary's own list. Placeholders for arguments are left out."""
    ran = subprocess.run([binary, "-dKall", "-q", "-c", "-f", "/dev/null"], capture_output=True, text=True, check=False)
    lists = dict(re.findall(r"# List of registered (.+?):\n((?:(?!# List).*\n)*)", ran.stdout))
    section = ""
    for line in lists["configuration keywords"].splitlines():
        if line.startswith("\t"):
            words = [word for word in re.sub(r"\[.*", "", line).split() if not re.fullmatch(r"<.*>|\+-?\d+", word)]
            yield entry(section, words)
        else:
            section = line
    for line in lists["filter names"].splitlines():
        yield "filter", line.split()[0]


def entry(section: str, words: list[str]) -> tuple[str, str]:
    """Return the group and the word of an entry: for `tcp-request content set-mark` in `listen`, that group of rules, and `set-mark`."""
    pair = " ".join(words[:2])
    if len(words) > 2 and pair in _RULES:
        return pair, words[2]
    if len(words) > 1 and words[0] in GROUPS:
        return words[0], words[-1]
    return "proxy" if section == "listen" else section, words[0]


def parsed(binary: str, words: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Return the pairs of group and word that the parser of the binary has."""
    words = list(words)
    heard = said(binary, [*words, *((name, NONE) for name in dict.fromkeys(name for name, _ in words))])
    return (each for each in words if heard[each] != heard[each[0], NONE])


def said(binary: str, words: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the binary's error about a line with each word, with the word itself removed."""
    found: dict[tuple[str, str], str] = {}
    with tempfile.TemporaryDirectory() as directory:
        for start in range(0, len(words), AT_ONCE):
            found |= _said(binary, Path(directory), words[start : start + AT_ONCE])
        # Some errors end the parsing, so there are no errors about the words after them.
        for each in [each for each, text in found.items() if not text]:
            found |= _said(binary, Path(directory), [each])
    return found


def _said(binary: str, directory: Path, words: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    lines: list[str] = []
    places: dict[tuple[str, str], tuple[int, int]] = {}
    for number, (name, word) in enumerate(words):
        own = case(GROUPS[name], word, f"s{number}")
        places[name, word] = len(lines) + 1, len(lines) + len(own)
        lines += own
    (directory / "words.cfg").write_text("\n".join(lines) + "\n")
    ran = subprocess.run([binary, "-W", "-c", "-f", "words.cfg"], cwd=directory, capture_output=True, text=True, check=False)
    alerts = {int(place): text for place, text in _ALERT.findall(ran.stderr)}
    return {
        (name, word): "no such section" if header in alerts else _generally(alerts.get(line, ""), word)
        for (name, word), (header, line) in places.items()
    }


def _generally(alert: str, word: str) -> str:
    text = re.sub(r"[;,] did you mean.*|in (frontend|listen|backend|proxy) 's\d+'", "", " ".join(alert.split()))
    return text.replace(f"'{word}'", "''")


def case(group: Group, word: str, name: str) -> list[str]:
    if "listen" in group.sections or group.sections[0] in ("frontend", "backend"):
        return [f"listen {name}", "  mode http", "  " + group.says.format(word)]
    return [group.sections[0] + ("" if group.sections[0] in ("global", "traces") else f" {name}"), "  " + group.says.format(word)]


if __name__ == "__main__":
    FACTS.write_text(facts().text())
