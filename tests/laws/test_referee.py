"""HAProxy 3.2 accepts every line that the declarations can write, in its section.

referee.toml lists the refused lines by HAProxy's message, with the reason. Their numbers may only shrink.
"""

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.haproxy import binaries
from tests.laws.additions import plain_lines
from tests.laws.cases import RULES, is_asked, subjects
from tests.laws.referee import DISTURBED, Case, Referee, furnish


def all_cases() -> list[Case]:
    lines = ((each, each.shape.new(values).text.strip()) for each in subjects() for values in each.samples)
    return list(dict.fromkeys(each.case(line) for each, line in lines if is_asked(line)))


def reason(case: Case, words: str) -> str | None:
    """Return the row of referee.toml for a refused case: the first whose pattern matches the line or HAProxy's message."""
    fits = (row for row in RULES["refused"] if any(re.search(each, text) for each in row["says"] for text in (case.line, words)))
    return next((row["reason"] for row in fits), None)


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> dict[Case, str]:
    directory = tmp_path_factory.mktemp("referee")
    furnish(directory, RULES["files"])
    return Referee(binaries.exactly("3.2"), directory, RULES["shared"], RULES["alone"]).refused(all_cases())


def test_haproxy_takes_what_is_written(refused: dict[Case, str]) -> None:
    unexplained = [f"{case.kind}: {case.line}: {words}" for case, words in refused.items() if reason(case, words) is None]
    assert unexplained == []


def test_what_it_refuses_only_shrinks(refused: dict[Case, str]) -> None:
    """If a number has become smaller, write the smaller number to referee.toml."""
    found = Counter((reason(case, words), case.kind) for case, words in refused.items())
    listed = {(row["reason"], kind): count for row in RULES["refused"] for kind, count in row["kinds"].items()}
    assert {key: count for key, count in found.items() if key[0]} == listed
    assert sum(listed.values()) <= RULES["at_most"]


def test_an_added_option_stands_where_haproxy_takes_it(refused: dict[Case, str], tmp_path: Path) -> None:
    """If HAProxy refuses an added option at its position, it also refuses the option at any other position of the line."""
    furnish(tmp_path, RULES["files"])
    referee = Referee(binaries.exactly("3.2"), tmp_path, RULES["shared"], RULES["alone"])
    additions = {}
    for plain in plain_lines():
        taken = [
            option
            for option, addition in zip(plain.options, plain.alone(), strict=True)
            if is_asked(addition.result) and plain.subject.case(addition.result) not in refused
        ]
        additions |= {plain.subject.case(each.result): each for each in plain.beside(taken) if not each.is_exclusive}
    doubted = [additions[case] for case, words in referee.refused_together(list(additions)).items() if not DISTURBED.search(words)]
    tried = {each.subject.case(line) for each in doubted for line in (each.line, *each.elsewhere())}
    wrong = referee.refused(list(tried))
    found = [
        f"{each.line}: {each.result}, but {line}"
        for each in doubted
        if each.subject.case(each.line) not in wrong
        for line in each.elsewhere()
        if line != each.result and each.subject.case(line) not in wrong
    ]
    assert found == []


def test_the_referee_finds_every_wrong_line(tmp_path: Path) -> None:
    right = [Case("right", f"server s{number} 127.0.0.1:80", ("backend @",)) for number in range(120)]
    wrong = [Case("wrong", f"servre s{number} 127.0.0.1:80", ("backend @",)) for number in range(60)]
    mixed = [case for pair in zip(right, wrong, strict=False) for case in pair] + right[60:]
    found = Referee(binaries.exactly("3.2"), tmp_path, "listen shared\n    bind 127.0.0.1:1\n").refused(mixed)
    assert set(found) == set(wrong)
    assert all("servre" in words for words in found.values())
