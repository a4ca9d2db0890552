"""Names that are looked up when a request comes."""

import pytest

from tests.native.references.sample import found, lines


def test_a_backend_is_named_in_lines_samples_tables_and_maps() -> None:
    references = found("backend/shop")
    assert lines(references) == [
        'line: use_backend "shop" if api or !admin   # shop',
        "argument: use_backend %[req.hdr(host),map(/x/hosts.map,shop)] if { acl(api) } { nbsrv(shop) gt 1 }",
        "argument: use_backend %[req.hdr(host),map(/x/hosts.map,shop)] if { acl(api) } { nbsrv(shop) gt 1 }",
        "argument: http-request set-var-fmt(txn.be) shop if api",
        "stick table: http-request track-sc0 src table shop",
        "stick table: http-request deny if { sc_http_req_rate(0,shop) gt 1 } api",
        'line: default_backend sh"op"',
        "argument: use-server web1 if { srv_is_up(shop/web1) } { always_true }",
        "line: server web1 1.1.1.1:80 track shop/web1 resolvers dns",
        "map: http-request set-var(txn.be) src,map(/x/addresses.map)",
        "map: use_backend %[req.hdr(host),map(/x/hosts.map,shop)] if { acl(api) } { nbsrv(shop) gt 1 }",
    ]
    assert [(each.path, each.line) for each in references.entries] == [("/x/addresses.map", 1), ("/x/hosts.map", 1), ("/x/hosts.map", 4)]
    assert [(each.path, each.line) for each in references.lost] == [("/x/a.lua", 2), ("/x/e.spoe", 3)]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("use_backend %[req.hdr(host)]", "the name is computed for each request"),
        ("use_backend sh%[path]", "the name is computed for each request"),
        ("use_backend %[var(txn.unset)]", "the name is computed for each request"),
        ("use_backend ${BACKEND}", "an environment variable sets the name"),
        ("use_backend %[path,map(/x/absent.map)]", "the map cannot be read, or has no file"),
        ("http-request set-map(/x/hosts.map) %[src] shop", "the line also changes the map at runtime"),
        ("http-request lua.pick shop 5", "the line passes the name to Lua, where it may mean something else"),
        ('use_backend other if { lua.least("shop",5) -m found }', "the line passes the name to Lua, where it may mean something else"),
        ("http-request lua.pick other if { nbsrv(shop) gt 1 }", None),
        ("use_backend to%[path]", None),
        ("use_backend %[path,map(/x/hosts.map)]", None),
    ],
)
def test_what_cannot_be_followed_is_named(line: str, why: str | None) -> None:
    text = f"frontend f\n  {line}\n  use_backend %[path,map(/x/hosts.map)]\nbackend shop\n"
    assert [each.why for each in found("backend/shop", text).lost] == ([why] if why else [])


@pytest.mark.parametrize(
    ("object_", "line", "section"),
    [
        ("backend/shop", "log backend@shop local0", "backend shop\n  mode log"),
        ("ring/shop", "log ring@shop sample 1:2 local0", "ring shop"),
        ("ring/shop", "trace h1 sink shop level user", "ring shop"),
        ("log_profile/shop", "log stderr profile shop local0", "log-profile shop"),
    ],
)
def test_logs_and_traces_name_what_takes_them(object_: str, line: str, section: str) -> None:
    text = f"{section}\nfrontend f\n  {line}\n  http-request set-header profile shop\n  http-request set-header sink shop\n"
    assert lines(found(object_, text)) == [f"line: {line}"]
