"""The terms of conditions."""

from haproxy_native.grammar.conditions import suites, terms


def test_terms_keep_their_signs_and_braces() -> None:
    assert list(terms("a ! b !{ path /x } || c".split())) == [["a"], ["!", "b"], ["!{", "path", "/x", "}"], ["||"], ["c"]]
    assert list(terms(["{", "path"])) == [["{", "path"]]


def test_suites() -> None:
    assert list(suites("a b or c OR d || e".split())) == [[["a"], ["b"]], [["c"]], [["d"]], [["e"]]]
    assert list(suites([])) == [[]]
