"""The files that lines name."""

from haproxy_native.features.lint.files import named_files
from haproxy_native.features.lint.view import Facts, View
from haproxy_native.text.document import Document

TEXT = """\
global
  default-path origin /base
frontend f
  bind :443 ssl crt /x/a.pem ca-file @system-ca crt-list l.txt
  acl a src -f "/x y" -f file@/z
  use_backend %[path,map(/m.map,a)] if { path,map_beg(opt@/n.map) -m found }
  errorfile 503 /e.http
  filter spoe engine e config /s.spoe
  http-request return status 200 file "/r"
"""


def test_names_kinds_and_places() -> None:
    view = View(Document.parse(TEXT), Facts("/etc/haproxy"))
    found = [(each.name, each.kind) for each in named_files(view)]
    assert found == [
        ("/x/a.pem", "certificate"),
        ("l.txt", "list"),
        ("/x y", "other"),
        ("/z", "other"),
        ("/m.map", "map"),
        ("/e.http", "other"),
        ("/s.spoe", "other"),
        ("/r", "other"),
    ]
    (listed,) = [each for each in named_files(view) if each.kind == "list"]
    assert listed.paths == ("/etc/haproxy/l.txt", "/base/l.txt", "/etc/l.txt") and listed.is_complete
