"""Check that every keyword of any HAProxy is declared, or is in groups.yaml as unknown (a list that may only shrink) or not applicable."""

from functools import cache

import pytest

from openapi import bundle, keywords
from openapi.keywords import Declared, Verdict, groups


@cache
def declared() -> Declared:
    return Declared(bundle.document())


@cache
def verdicts() -> tuple[Verdict, ...]:
    return tuple(keywords.verdicts(bundle.document()))


def test_what_nothing_declares_is_listed_as_unknown() -> None:
    found = {(each.group, each.word) for each in verdicts() if each.state == keywords.UNKNOWN}
    assert found == {(name, word) for name, group in groups().items() for word in group.unknown}


def test_the_unknown_only_shrink() -> None:
    listed = [word for group in groups().values() for word in group.unknown]
    assert len(listed) <= keywords.at_most()


def test_what_is_not_applicable_is_a_word_and_not_declared() -> None:
    for name, group in groups().items():
        for word in group.not_applicable:
            assert keywords.facts().words[name][word], f"{name}: no HAProxy has {word}"
            assert not declared().has(group, word), f"{name}: {word} is declared"


def test_words_parsed_by_hand_are_words_of_some_haproxy() -> None:
    nowhere = [(name, word) for name, group in groups().items() for word in group.by_hand if not keywords.facts().words[name][word]]
    assert nowhere == []


@pytest.mark.parametrize("name", [name for name, group in groups().items() if not group.not_applicable_all])
def test_a_misspelt_word_is_not_declared(name: str) -> None:
    group, words = groups()[name], keywords.facts().words[name]
    found = [word for word in words if declared().has(group, word.rstrip("*") + "-zork")]
    assert found == [word for word in found if word.startswith("track-sc")], "whatever is glued to a word is open"


@pytest.mark.parametrize(
    ("versions", "expected"),
    [("1 2 3", ""), ("2 3", "since 2"), ("3", "since 3"), ("1 2", "up to 2"), ("2", "2 only"), ("1", "1 only"), ("1 3", "in some")],
)
def test_versions_are_told_in_short(versions: str, expected: str) -> None:
    verdict = Verdict("global", "x", keywords.DECLARED, tuple(versions.split()))
    assert keywords._rows([verdict], ["1", "2", "3"])[1] == ("declared", expected or "all", "`x`")


def test_the_page_tells_every_word() -> None:
    text = keywords.page(bundle.document())
    assert [each.word for each in verdicts() if f"`{each.word}`" not in text] == []


def test_facts_are_read_as_they_are_written() -> None:
    assert keywords.FACTS.read_text() == keywords.facts().text()
