"""A configuration as checks read it."""

from haproxy_native.features.lint.view import View
from haproxy_native.text.document import Document

TEXT = """\
defaults a
  mode http
defaults b from a
  timeout client 1s
frontend f from b
  .if defined(X)
  http-request deny
  .else
  http-request allow
  .endif
  "http-request" 'deny' if !a { path "/x y" }
  acl a src -f /x
  acl a src 10.0.0.1
.if defined(Y)
backend g
  server s 10.0.0.1:80
.endif
backend h
  mode "${MODE}"
"""


def test_what_is_certain_inherited_and_named() -> None:
    view = View(Document.parse(TEXT))
    by_title = {each.title: each for each in view.scopes}
    f, g, h = (by_title[name] for name in ("frontend f", "backend g", "backend h"))
    assert f.mode == "http" and h.mode == "" and [each.title for each in f.chain] == ["frontend f", "defaults b", "defaults a"]
    assert [each.statement.is_certain for each in f.rules] == [False, False, True] and not g.header.is_certain and h.header.is_certain
    rule = f.rules[-1]
    assert (rule.family, rule.action, rule.is_final) == ("http-request", "deny", True)
    assert [each.patterns or each.files for each in f.criteria(rule)] == [("/x",), ("10.0.0.1",), ("/x y",)]
    assert [each.patterns for each in f.criteria(rule, positive=True)] == [("/x y",)]


def test_defaults_in_a_circle_end() -> None:
    view = View(Document.parse("defaults a from b\ndefaults b from a\nfrontend f from a\n"))
    assert len(view.scopes[-1].chain) == 3
