"""The lines of a split in a document, without a process."""

import pytest

from haproxy_native.editing.editor import Editor
from haproxy_native.errors import BadValue, NotFound
from haproxy_native.features.splits import rules
from haproxy_native.features.splits.rules import LinesMissing
from haproxy_native.text.document import Document

PATH = "/maps/split_a.map"
TEXT = """\
defaults web
  mode http
frontend site from web
  bind :80
  use_backend v1 if { path /a }
  default_backend v1
backend v1 from web
backend v2 from web
backend raw
listen both from web
  bind :81
"""
DOCUMENT = Document.parse(TEXT)


EDITOR = Editor()


def texts(by: str) -> list[str]:
    return rules.lines(EDITOR, rules.rules(by, PATH))


def test_the_lines_of_each_kind() -> None:
    at_random = f"use_backend %[rand(100),map_int({PATH})]"
    assert texts("random") == [at_random]
    keyed = f"use_backend %[req.cook(who),crc32(1),mod(100),map_int({PATH})] if {{ req.cook(who) -m len gt 0 }}"
    assert texts("cookie:who") == [keyed, at_random]
    assert texts("source")[0].endswith("if { src -m found }")
    assert "req.fhdr(X-User)" in texts("header:X-User")[0]


@pytest.mark.parametrize(("by", "path"), [("cookie:", PATH), ("cookie:a b", PATH), ("url", PATH), ("random", "/with blank/a.map")])
def test_no_lines(by: str, path: str) -> None:
    with pytest.raises(BadValue):
        rules.rules(by, path)


@pytest.mark.parametrize("frontend", ["site", "both"])
def test_put_in_found_and_removed(frontend: str) -> None:
    wanted = rules.rules("cookie:who", PATH)
    document = rules.with_rules(EDITOR, DOCUMENT, frontend, wanted, PATH)
    assert rules.installed(EDITOR, document, PATH) == {frontend: wanted}
    assert rules.installed(EDITOR, document, "/maps/split_b.map") == rules.installed(EDITOR, DOCUMENT, PATH) == {}
    other = rules.with_rules(EDITOR, document, frontend, rules.rules("random", PATH), PATH)
    assert rules.installed(EDITOR, other, PATH) == {frontend: rules.rules("random", PATH)}
    assert rules.without_rules(EDITOR, document, PATH).text == TEXT


def test_a_line_before_that_takes_all() -> None:
    document = Document.parse(TEXT.replace("if { path /a }", ""))
    with pytest.raises(LinesMissing, match="sends all requests to v1") as refused:
        rules.with_rules(EDITOR, document, "site", rules.rules("random", PATH), PATH)
    assert len(refused.value.lines) == 1


def test_modes() -> None:
    assert rules.common_mode(DOCUMENT, ["v1", "v2", "both"]) == "http"
    assert rules.common_mode(Document.parse("backend raw\n"), ["raw"]) == "tcp"
    with pytest.raises(BadValue, match="backend v9 does not exist"):
        rules.common_mode(DOCUMENT, ["v9"])
    with pytest.raises(NotFound):
        rules.check_frontend(DOCUMENT, "v1", "http")
    with pytest.raises(BadValue, match="frontend site has mode http"):
        rules.check_frontend(DOCUMENT, "site", "tcp")
    assert rules.needs_http("cookie:a") and not rules.needs_http("source")
