"""Conditions of rules: what `||` parts, and the terms of each (HAProxy Configuration Manual, section 7.2)."""

from collections.abc import Iterator, Sequence

OR = ("||", "or")
UNLESS = "unless"


def suites(words: Sequence[str]) -> Iterator[list[list[str]]]:
    """What `||` parts of the words behind `if` or `unless`, each as its terms."""
    suite: list[list[str]] = []
    for term in terms(words):
        if term[0] in OR:
            yield suite
            suite = []
        else:
            suite.append(term)
    yield suite


def terms(words: Sequence[str]) -> Iterator[list[str]]:
    """Names of ACLs and anonymous ones in braces, with the signs before them; `||` alone."""
    term: list[str] = []
    is_open = False
    for word in words:
        term.append(word)
        sign = word.lstrip("!")
        is_open = (is_open or sign == "{") and word != "}"
        if sign and not is_open:
            yield term
            term = []
    if term:
        yield term
