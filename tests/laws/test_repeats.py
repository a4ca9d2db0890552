"""A repeated keyword is read as HAProxy reads it. If occurrences add up, all of them are shown, and each can be changed.

The rows say what HAProxy's parsers do: they append values, or set a bit for each occurrence.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from haproxy_native.editing.resources import Resource
from haproxy_native.errors import BadValue
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from tests.corpus.test_corpus import editor
from tests.laws.language import kinds

# A keyword, the member with all its occurrences, two values and a third.
IN_LINES = [
    ("binds", "bind :443 ssl", "crt", "ssl_certificate", ["/ssl/a.pem", "/ssl/b.pem", "/ssl/c.pem"], ":"),
    ("binds", "bind :443 ssl", "crt-list", "crt_list", ["/ssl/a.list", "/ssl/b.list", "/ssl/c.list"], ":"),
    ("binds", "bind :443 ssl", "ca-ignore-err", "ca_ignore_err", ["10", "12", "18"], ","),
    ("binds", "bind :443 ssl", "crt-ignore-err", "crt_ignore_err", ["10", "12", "18"], ","),
    ("binds", "bind :443 ssl", "thread", "thread", ["1", "2", "1/1"], ","),
    ("servers", "server s 192.0.2.1:80", "proxy-v2-options", "proxy-v2-options", [["ssl"], ["crc32c"], ["unique-id"]], None),
    ("servers", "server s 192.0.2.1:80", "resolve-opts", "resolve_opts", ["allow-dup-ip", "ignore-weight", "prevent-dup-ip"], ","),
    ("servers", "server s 192.0.2.1:80", "resolve-net", "resolve-net", ["10.0.0.0/8", "192.0.2.0/24", "fd00::/8"], ","),
]
IN_SECTIONS = [
    ("global", "ssl-default-bind-options", ("ssl_options", "default_bind_options"), ["no-sslv3", "no-tls-tickets", "no-tlsv10"], " "),
    ("global", "ssl-default-server-options", ("ssl_options", "default_server_options"), ["no-sslv3", "no-tls-tickets", "no-tlsv10"], " "),
    ("global", "unsetenv", ("environment_options", "unsetenv"), ["A", "B", "C"], " "),
    ("global", "setcap", ("setcap",), ["cap_net_raw", "cap_net_bind_service", "cap_net_admin"], ","),
    ("backend", "compression algo", ("compression", "algorithms"), [["gzip"], ["deflate"], ["identity"]], None),
    ("backend", "compression type", ("compression", "types"), [["text/css"], ["text/html"], ["text/plain"]], None),
]


def added(values: list[Any], separator: str | None) -> Any:
    """Return the value of all occurrences together."""
    return [each for value in values for each in value] if separator is None else separator.join(values)


def word(value: str | list[str]) -> str:
    return value[0] if isinstance(value, list) else value


@pytest.mark.parametrize(("collection", "start", "keyword", "member", "values", "separator"), IN_LINES, ids=[row[2] for row in IN_LINES])
def test_options_of_a_line_add_up(collection: str, start: str, keyword: str, member: str, values: list[Any], separator: str | None) -> None:
    one, two, three = values
    section = "frontend f" if collection == "binds" else "backend f"
    text = f"{section}\n  {start} {keyword} {word(one)}   {keyword}  {word(two)} # both\n"
    document, resource = Document.parse(text.encode()), editor().resources[collection]
    parent = (editor().resources[section.split()[0] + "s"], "f")
    (found,) = editor().list_objects(document, resource, parent)
    assert found[member] == added([one, two], separator)

    def put(value: Any) -> str:
        body = {**found, member: value} if value else {name: each for name, each in found.items() if name != member}
        return editor().replace(document, resource, parent, found["name"], body).text

    assert put(found[member]) == text
    assert (
        editor().replace(document, resource, parent, found["name"], {**found, "metadata": {"a": 1}}).text.startswith(text.split(" # ")[0])
    )
    assert put(added([one, three], separator)) == text.replace(word(two), word(three))
    assert put(one) == f"{section}\n  {start} {keyword} {word(one)} # both\n"
    assert put(None) == f"{section}\n  {start} # both\n"
    again = editor().list_objects(Document.parse(put(added(values, separator)).encode()), resource, parent)
    assert again == [{**found, member: added(values, separator)}]


@pytest.mark.parametrize(("kind", "keyword", "path", "values", "separator"), IN_SECTIONS, ids=[row[1] for row in IN_SECTIONS])
def test_lines_of_a_section_add_up(kind: str, keyword: str, path: tuple[str, ...], values: list[Any], separator: str | None) -> None:
    one, two, three = values
    header = kind if kind == "global" else f"{kind} f"
    text = f"{header}\n  {keyword} {word(one)} # first\n  # between\n  {keyword}  {word(two)}\n"
    document, resource = Document.parse(text.encode()), editor().resources["global" if kind == "global" else f"{kind}s"]
    found = editor().get_object(document, resource, None, "" if kind == "global" else "f")

    def put(value: Any) -> str:
        member = value
        for name in reversed(path):
            member = {name: member}
        return editor().replace(document, resource, None, "" if kind == "global" else "f", {**found, **member}).text

    value = found
    for name in path:
        value = value[name]
    assert value == added([one, two], separator)
    assert put(value) == text
    assert put(added([one, three], separator)) == text.replace(word(two), word(three))
    assert put(one) == text.replace(f"  {keyword}  {word(two)}\n", "")


# Lines or options that all have an effect, while the API shows only the last: the section, the lines, the member, another value.
KEPT = [
    ("global", ["lua-load-per-thread /a.lua x", "lua-load-per-thread /b.lua"], ("lua_options", "load_per_thread"), "/c.lua"),
    ("backend", ["errorloc302 503 /a", "errorloc302 404 /b"], ("errorloc302",), {"code": 404, "url": "/c"}),
    ("defaults", ["errorloc303 503 /a", "errorloc303 404 /b"], ("errorloc303",), {"code": 404, "url": "/c"}),
]


@pytest.mark.parametrize(("kind", "lines", "path", "other"), KEPT, ids=[row[2][-1] for row in KEPT])
def test_of_several_lines_the_last_is_shown_and_the_others_stay(kind: str, lines: list[str], path: tuple[str, ...], other: Any) -> None:
    name = "" if kind == "global" else "s"
    document = Document.parse(f"{kind} {name}\n  {lines[0]}\n  {lines[1]}\n".encode())
    resource = editor().resources[kind if kind in ("global", "defaults") else f"{kind}s"]
    found = editor().get_object(document, resource, None, name)
    assert editor().replace(document, resource, None, name, found).text == document.text
    body = {**found, path[0]: {path[1]: other} if path[1:] else other}
    changed = editor().replace(document, resource, None, name, body)
    assert changed.text.splitlines()[1] == f"  {lines[0]}"
    assert editor().get_object(changed, resource, None, name) == body
    without = editor().replace(document, resource, None, name, {"name": name} if name else {})
    assert without.text == f"{kind} {name}\n  {lines[0]}\n"


def test_of_several_headers_the_last_is_shown_and_the_others_stay() -> None:
    """The API has one `set-proxy-v2-tlv-fmt`, although HAProxy sends each of them."""
    text = "backend b\n  server s 192.0.2.1:80 set-proxy-v2-tlv-fmt(0x20) a set-proxy-v2-tlv-fmt(0x21) b weight 1\n"
    document, resource, parent = Document.parse(text.encode()), editor().resources["servers"], (editor().resources["backends"], "b")
    (found,) = editor().list_objects(document, resource, parent)
    assert found["set-proxy-v2-tlv-fmt"] == {"id": "0x21", "value": "b"}
    assert editor().replace(document, resource, parent, "s", found).text == text
    assert editor().replace(document, resource, parent, "s", {**found, "weight": 2}).text == text.replace("weight 1", "weight 2")
    body = {**found, "set-proxy-v2-tlv-fmt": {"id": "0x21", "value": "c"}}
    assert editor().replace(document, resource, parent, "s", body).text == text.replace(" b ", " c ")
    del body["set-proxy-v2-tlv-fmt"]
    assert editor().replace(document, resource, parent, "s", body).text == text.replace(" set-proxy-v2-tlv-fmt(0x21) b", "")


CONDITIONS = [
    ("frontend", "monitor fail", lambda cond, test: {"monitor_fail": {"cond": cond, "cond_test": test}}),
    (
        "backend",
        "stats admin",
        lambda cond, test: {"stats_options": {"stats_admin": True, "stats_admin_cond": cond, "stats_admin_cond_test": test}},
    ),
]


@pytest.mark.parametrize(("kind", "keyword", "body"), CONDITIONS, ids=[row[1] for row in CONDITIONS])
def test_conditions_of_which_one_is_enough_add_up(kind: str, keyword: str, body: Callable[[str, str], dict[str, Any]]) -> None:
    text = f"{kind} s\n  {keyword} if A # first\n  # between\n  {keyword}  if B\n"
    document, resource = Document.parse(text.encode()), editor().resources[f"{kind}s"]
    assert editor().get_object(document, resource, None, "s") == {"name": "s", **body("if", "A || B")}

    def put(document: Document, members: dict[str, Any]) -> str:
        changed = editor().replace(document, resource, None, "s", {"name": "s", **members})
        assert editor().get_object(changed, resource, None, "s") == {"name": "s", **members}
        return changed.text

    assert put(document, body("if", "A || B")) == text
    assert put(document, body("if", "A || C")) == text.replace("if B", "if C")
    assert put(document, body("if", "A || B || C")) == text.replace("if B", "if B || C")
    assert put(document, body("if", "A")) == text.replace(f"  {keyword}  if B\n", "")
    assert put(document, body("unless", "A")) == text.replace("if A", "unless A").replace(f"  {keyword}  if B\n", "")
    assert put(document, {}) == f"{kind} s\n  # between\n"
    # These cannot be one condition. The last is shown, and the other stays.
    mixed = Document.parse(text.replace("if B", "unless B").encode())
    assert editor().get_object(mixed, resource, None, "s") == {"name": "s", **body("unless", "B")}
    assert put(mixed, body("unless", "C")) == text.replace("if B", "unless C")
    assert editor().replace(mixed, resource, None, "s", {"name": "s"}).text == f"{kind} s\n  {keyword} if A # first\n  # between\n"


@pytest.mark.parametrize(("kind", "collection"), [("backend", "backends"), ("defaults", "defaults"), ("peers", "peers")])
def test_of_disabled_and_enabled_the_last_counts(kind: str, collection: str) -> None:
    resource = editor().resources[collection]
    for first, last in [("disabled", "enabled"), ("enabled", "disabled")]:
        text = f"{kind} s\n  {first}\n  {last} # so\n"
        document = Document.parse(text.encode())
        found = editor().get_object(document, resource, None, "s")
        assert found == {"name": "s", last: True}
        assert editor().replace(document, resource, None, "s", found).text == text
        changed = editor().replace(document, resource, None, "s", {"name": "s", first: True, last: False})
        assert editor().get_object(changed, resource, None, "s") == {"name": "s", first: True}
        assert editor().replace(document, resource, None, "s", {"name": "s"}).text == f"{kind} s\n"
        with pytest.raises(BadValue, match="disabled and enabled are exclusive"):
            editor().replace(document, resource, None, "s", {"name": "s", first: True, last: True})


def test_a_value_of_several_words_keeps_what_stands_behind_a_sharp() -> None:
    shape = kinds()["http_request_rule"].shape
    line = shape.new({"type": "redirect", "redir_type": "location", "redir_value": "/x", "redir_option": "drop-query # append-slash"})
    assert line.text == 'http-request redirect location /x drop-query "#" append-slash\n'
    assert (shape.read(line) or {})["redir_option"] == 'drop-query "#" append-slash'
    document, resource = Document.parse(b"global\n"), editor().resources["global"]
    changed = editor().replace(document, resource, None, "", {"environment_options": {"unsetenv": "A # B"}})
    assert changed.text == 'global\n  unsetenv A "#" B\n'


# What HAProxy's manual marks with an asterisk, and the member that says it.
NEGATED = [
    ("abortonclose", ("abortonclose",), "backend"),
    ("http-server-close", ("http_connection_mode",), "frontend"),
    ("httpclose", ("http_connection_mode",), "backend"),
    ("http-keep-alive", ("http_connection_mode",), "defaults"),
    ("contstats", ("contstats",), "frontend"),
    ("dontlognull", ("dontlognull",), "frontend"),
    ("forwarded", ("forwarded", "enabled"), "backend"),
    ("redispatch", ("redispatch", "enabled"), "backend"),
    ("tcp-smart-accept", ("tcp_smart_accept",), "defaults"),
    ("transparent", ("transparent",), "backend"),
    ("use-small-buffers", ("use_small_buffers", "enabled"), "backend"),
]


@pytest.mark.parametrize(("option", "path", "kind"), NEGATED, ids=[row[0] for row in NEGATED])
def test_of_an_option_and_its_no_the_last_counts(option: str, path: tuple[str, ...], kind: str) -> None:
    yes, no, default = f"  option {option}\n", f"  no option {option}\n", f"  default option {option}\n"
    resource = editor().resources[kind if kind == "defaults" else f"{kind}s"]

    def read(*lines: str) -> Any:
        found: Any = editor().get_object(Document.parse(f"{kind} s\n{''.join(lines)}".encode()), resource, None, "s")
        for name in path:
            found = (found or {}).get(name)
        return found

    assert read(yes) in ("enabled", True, option)
    assert read(no) in ("disabled", None)
    assert read(default) is None
    for lines in ([yes, no], [no, yes], [yes, no, yes], [no, no], [yes, yes]):
        assert read(*lines) == read(lines[-1]), lines
        check_edits(f"{kind} s\n{''.join(lines)}", resource)
    if "http_connection" not in path[0]:
        assert read(yes, default) is None
        assert read(default, yes) == read(yes)
        check_edits(f"{kind} s\n{yes}{default}", resource)


def check_edits(text: str, resource: Resource) -> None:
    """Assert that sending the shown object back changes nothing, and that an object with another value, or without it, is shown as sent."""
    document = Document.parse(text.encode())
    found = editor().get_object(document, resource, None, "s")
    assert editor().replace(document, resource, None, "s", found).text == text
    for body in ({"name": "s"}, found, *others(resource, found)):
        again = editor().get_object(editor().replace(document, resource, None, "s", body), resource, None, "s")
        assert again == {**body, **({"enabled": again["enabled"]} if "enabled" in again and "enabled" not in body else {})}, text


def others(resource: Resource, found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield objects in which each member has another value."""
    for name, value in found.items():
        for other in ("enabled", "disabled", "httpclose", "http-server-close"):
            schema = editor().grammar.schemas.properties(editor().grammar.schemas.named(resource.schema))[name]
            if other in schema.get("enum", ()) and other != value:
                yield {**found, name: other}


def test_an_option_of_another_mode_is_not_taken_back() -> None:
    text = "frontend f\n  option httpclose\n  no option http-server-close\n"
    document, resource = Document.parse(text.encode()), editor().resources["frontends"]
    found = editor().get_object(document, resource, None, "f")
    assert found["http_connection_mode"] == "httpclose"
    changed = editor().replace(document, resource, None, "f", {**found, "http_connection_mode": "http-server-close"})
    assert changed.text == "frontend f\n  no option http-server-close\n  option http-server-close\n"
    assert editor().replace(document, resource, None, "f", {"name": "f"}).text == "frontend f\n  no option http-server-close\n"


@pytest.mark.parametrize("keyword", ["busy-polling", "insecure-fork-wanted", "set-dumpable", "strict-limits", "numa-cpu-mapping"])
def test_global_keywords_are_taken_back(keyword: str) -> None:
    text = f"global\n  {keyword}\n  no {keyword}\n"
    document, resource = Document.parse(text.encode()), editor().resources["global"]
    found = editor().get_object(document, resource, None, "")
    assert "enabled" not in str(found)
    assert "True" not in str(found)
    assert editor().replace(document, resource, None, "", found).text == text


def test_default_server_lines_add_up() -> None:
    text = "backend b\n  default-server proxy-v2-options ssl weight 1\n  default-server proxy-v2-options crc32c\n"
    document, resource = Document.parse(text.encode()), editor().resources["backends"]
    found = editor().get_object(document, resource, None, "b")
    assert found["default_server"]["proxy-v2-options"] == ["ssl", "crc32c"]
    assert editor().replace(document, resource, None, "b", found).text == text
    body = {**found, "default_server": {**found["default_server"], "proxy-v2-options": ["ssl", "unique-id"]}}
    assert editor().replace(document, resource, None, "b", body).text == text.replace("crc32c", "unique-id")


def test_a_part_may_hold_the_separator() -> None:
    """The name of a file with a colon is not split while its value is unchanged."""
    text = "frontend f\n  bind :443 ssl crt /a:b.pem crt /c.pem\n"
    document, resource, parent = Document.parse(text.encode()), editor().resources["binds"], (editor().resources["frontends"], "f")
    (found,) = editor().list_objects(document, resource, parent)
    body = {**found, "ssl_certificate": "/a:b.pem:/d.pem"}
    assert editor().replace(document, resource, parent, found["name"], found).text == text
    assert editor().replace(document, resource, parent, found["name"], body).text == text.replace("/c.pem", "/d.pem")


def test_an_empty_part_is_refused() -> None:
    document, resource, parent = Document.parse(b"frontend f\n"), editor().resources["binds"], (editor().resources["frontends"], "f")
    with pytest.raises(BadValue, match=r"ssl_certificate in body: '/a::/b' has an empty part$"):
        editor().create(document, resource, parent, {"name": "x", "port": 443, "ssl_certificate": "/a::/b"})


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("table", "table t type ip size 1k store gpc0,conn_cnt store conn_rate(10s)\n"),
        ("frontend:stick_table.expire+keylen+nopurge", "stick-table type ip size 1k store gpc0,conn_cnt store conn_rate(10s)\n"),
    ],
)
def test_stores_add_up(kind: str, line: str) -> None:
    shape, old = kinds()[kind].shape, Line(line)
    found = shape.read(old) or {}
    assert found["store"] == "gpc0,conn_cnt,conn_rate(10s)"
    assert shape.onto(old, found).text == line
    assert shape.onto(old, {**found, "store": "gpc0,conn_cnt,http_req_cnt"}).text == line.replace("conn_rate(10s)", "http_req_cnt")
    assert shape.onto(old, {**found, "store": "gpc0,conn_cnt"}).text == line.replace(" store conn_rate(10s)", "")
