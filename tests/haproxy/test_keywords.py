"""openapi/haproxy/keywords.yaml is what the binaries tell."""

import pytest

from openapi.keywords import facts
from tests.haproxy import binaries, keywords
from tests.haproxy.keywords import NONE, case, listed, parsed


@pytest.mark.parametrize("version", binaries.EACH)
def test_the_file_is_fresh(version: str) -> None:
    binary, stored = binaries.exactly(version), facts()
    own = set(listed(binary))
    rest = [
        (name, word) for name, words in stored.words.items() for word in words if (name, word) not in own and keywords.GROUPS[name].sections
    ]
    own |= set(parsed(binary, rest))
    written = {(name, word) for name, words in stored.words.items() for word, versions in words.items() if version in versions}
    if keywords.release(binary) != stored.releases[version]:
        # Another release of the version may have further words, but each has to be known here.
        written |= {each for each in own if each[1] in stored.words.get(each[0], {})}
    assert own - written == set(), "run tests/tools/list-keywords"
    assert written - own == set() or keywords.release(binary) != stored.releases[version], "run tests/tools/list-keywords"


def test_a_word_that_is_none_is_not_known() -> None:
    binary = binaries.newest()
    groups = [name for name, group in keywords.GROUPS.items() if group.sections]
    assert list(parsed(binary, [(name, "nonsense") for name in groups])) == []
    assert ("global", "user") in set(parsed(binary, [("global", "user")]))


def test_a_case_stands_in_its_section() -> None:
    assert case(keywords.GROUPS["timeout"], NONE, "s1") == ["listen s1", "  mode http", "  timeout zork"]
    assert case(keywords.GROUPS["global"], NONE, "s1") == ["global", "  zork"]
