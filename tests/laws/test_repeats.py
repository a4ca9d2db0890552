"""A keyword that HAProxy lets repeat is read as HAProxy means it: where occurrences add up, all of them are shown and each can be changed.

The rows state what HAProxy's parsers do: they append, or set a bit for each occurrence.
"""

from typing import Any

import pytest

from haproxy_native.errors import BadValue
from haproxy_native.text.document import Document
from tests.corpus.test_corpus import editor

# A keyword, the member that its occurrences add up to, two values and a third.
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
    """Return what the occurrences make together."""
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


def test_default_server_lines_add_up() -> None:
    text = "backend b\n  default-server proxy-v2-options ssl weight 1\n  default-server proxy-v2-options crc32c\n"
    document, resource = Document.parse(text.encode()), editor().resources["backends"]
    found = editor().get_object(document, resource, None, "b")
    assert found["default_server"]["proxy-v2-options"] == ["ssl", "crc32c"]
    assert editor().replace(document, resource, None, "b", found).text == text
    body = {**found, "default_server": {**found["default_server"], "proxy-v2-options": ["ssl", "unique-id"]}}
    assert editor().replace(document, resource, None, "b", body).text == text.replace("crc32c", "unique-id")


def test_a_part_may_hold_the_separator() -> None:
    """A file whose name has a colon is not taken apart while its value stays."""
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
