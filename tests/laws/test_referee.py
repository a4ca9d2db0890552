"""HAProxy 3.2 takes every line that the declarations can print, in the section that it stands in.

What it refuses stands in referee.toml, by the words it refuses it with and with the reason; the counts may only shrink.
"""

import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from haproxy_native.editing.resources import Resource
from tests.haproxy import binaries
from tests.laws.language import directives, language
from tests.laws.referee import Case, Referee, furnish
from tests.samples import line_samples

RULES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("referee.toml").read_text())
PREFERRED = ("backends", "frontends")


def around(kind: str, section: str, case: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The lines before and behind a case."""
    nameless = section in ("global", "traces")
    default = [section if nameless else f"{section} @", "..."]
    lines = RULES["around"].get(kind) or RULES["around"].get(kind.split(":")[0]) or RULES["around"].get(section) or default
    place = lines.index("...")
    own = [line for word, line in RULES["before"].items() if word in case.split()]
    return (*lines[:place], *own), tuple(lines[place + 1 :])


def parent(resource: Resource) -> str:
    preferred = [name for name in PREFERRED if name in resource.parents]
    return language().resources[[*preferred, *resource.parents][0]].section


def sensible(value: Any, name: str = "") -> Any:
    """The values with what referee.toml gives for a text that must be of a certain form."""
    if isinstance(value, dict):
        return {inner: sensible(each, inner) for inner, each in value.items()}
    if isinstance(value, list):
        return [sensible(each, name) for each in value]
    return RULES["values"].get(name, value) if value == "sample" else value


def all_cases() -> list[Case]:
    found = [
        Case(resource.schema, line, *around(resource.schema, parent(resource), line))
        for resource, shape in language().children()
        for line in (shape.new(sensible(values)).text.strip() for values in line_samples(shape))
    ]
    for name, number, section, resource in (each for each in directives() if not each[3].file):
        directive = section.directives[number]
        for values in line_samples(directive.shape):
            if directive.rows or directive.stands(values):
                line = directive.shape.new(sensible(values)).text.strip()
                found.append(Case(name, line, *around(name, resource.section, line)))
    return [case for case in dict.fromkeys(found) if not any(each in case.line for each in RULES["without"])]


def reason(case: Case, words: str) -> str | None:
    """The row that the refusal of a case belongs to: the first that its line or HAProxy's words match."""
    fits = (row for row in RULES["refused"] if any(re.search(each, text) for each in row["says"] for text in (case.line, words)))
    return next((row["reason"] for row in fits), None)


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> dict[Case, str]:
    directory = tmp_path_factory.mktemp("referee")
    furnish(directory, RULES["files"])
    return Referee(binaries.exactly("3.2"), directory, RULES["shared"]).refused(all_cases())


def test_haproxy_takes_what_is_written(refused: dict[Case, str]) -> None:
    unexplained = [f"{case.kind}: {case.line}: {words}" for case, words in refused.items() if reason(case, words) is None]
    assert unexplained == []


def test_what_it_refuses_only_shrinks(refused: dict[Case, str]) -> None:
    """Fix what makes a count smaller, then write the smaller count."""
    found = Counter((reason(case, words), case.kind) for case, words in refused.items())
    listed = {(row["reason"], kind): count for row in RULES["refused"] for kind, count in row["kinds"].items()}
    assert {key: count for key, count in found.items() if key[0]} == listed
    assert sum(listed.values()) <= RULES["at_most"]


def test_the_referee_finds_every_wrong_line(tmp_path: Path) -> None:
    right = [Case("right", f"server s{number} 127.0.0.1:80", ("backend @",)) for number in range(120)]
    wrong = [Case("wrong", f"servre s{number} 127.0.0.1:80", ("backend @",)) for number in range(60)]
    mixed = [case for pair in zip(right, wrong, strict=False) for case in pair] + right[60:]
    found = Referee(binaries.exactly("3.2"), tmp_path, "listen shared\n    bind 127.0.0.1:1\n").refused(mixed)
    assert set(found) == set(wrong)
    assert all("servre" in words for words in found.values())
