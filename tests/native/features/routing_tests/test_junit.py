"""A run as CI systems read it."""

from xml.etree.ElementTree import fromstring

from haproxy_native.features.explain.explanation import AppliedRule
from haproxy_native.features.explain.question import Question
from haproxy_native.features.routing_tests.run import Case, Coverage, Result, Run, junit


def result(test: str, name: str, reason: str = "") -> Result:
    rules = [AppliedRule(None, 7, "http-request deny", "frontend site", because=()), AppliedRule("/b.cfg", 8, "redirect", "", because=())]
    return Result(Case(test, name, {}, {}, Question()), 0.5, reason, {}, rules)


def test_a_suite_for_each_test() -> None:
    run = Run([result("a", "one"), result("a", "two", "status is 1, not 2"), result("b", "three")], Coverage(0, ()), 1.5)
    root = fromstring(junit(run))
    assert root.attrib == {"tests": "3", "failures": "1", "time": "1.500"}
    assert [(suite.get("name"), suite.get("tests"), suite.get("failures")) for suite in root] == [("a", "2", "1"), ("b", "1", "0")]
    (failure,) = root.iter("failure")
    assert failure.get("message") == "status is 1, not 2"
    assert (failure.text or "").splitlines() == ["status is 1, not 2", "line 7: http-request deny", "/b.cfg:8: redirect"]


def test_what_xml_has_no_words_for() -> None:
    root = fromstring(junit(Run([result("", 'a\0\x1b<&">\ud800', "\x07")], Coverage(0, ()), 0.0)))
    (case,) = root.iter("testcase")
    assert (case.get("name"), case.get("classname")) == ('a??<&">?', "routing")
