"""Which lines mention a stored file."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from haproxy_native.editing.file_references import (
    base_directory,
    bases,
    map_directory,
    path_of_name,
    references,
    unreferenced,
    with_named_base,
)
from haproxy_native.text.document import Document
from tests.laws.settings import law

PATH = "/etc/haproxy/maps/hosts.map"


def lines(text: str, path: str = PATH) -> list[int]:
    return [each.line for each in references(Document.parse(text.encode()), path, "/etc/haproxy")]


@pytest.mark.parametrize(
    "line",
    [
        f"http-request set-var(txn.a) req.hdr(host),map({PATH})",
        f"http-request set-var(txn.a) req.hdr(host),map_str({PATH},none)",
        f'http-request set-var(txn.a) "req.hdr(host),map_beg(opt@{PATH},none)"',
        f"acl known src -f {PATH}",
        "errorfile 503 maps/hosts.map",
        "errorfile 503 ./maps//hosts.map",
        'acl known src -f "${DIR}/hosts.map"',
        f"use_backend b if {{ src -f '{PATH}' }}",
        "http-request set-map(/etc/haproxy/maps/../maps/hosts.map) a b",
    ],
)
def test_a_line_that_refers(line: str) -> None:
    text = f"# {PATH}\n\nfrontend f\n  # {PATH}\n  {line}\n"
    (found,) = references(Document.parse(text.encode()), PATH, "/etc/haproxy")
    assert (found.section, found.line, found.keyword, found.text) == ("frontend f", 5, line.split()[0], line)


@pytest.mark.parametrize(
    "line",
    [
        f"acl known src -f {PATH}.bak",
        f"acl known src -f /other{PATH}",
        "acl known src -f hosts.map",
        f"acl known src 10.0.0.1 # {PATH}",
        "use_backend maps",
        "log-format %[req.hdr(host)]hosts.map",
    ],
)
def test_a_line_that_does_not(line: str) -> None:
    assert lines(f"frontend f\n  {line}\n") == []


def test_relative_paths_begin_at_the_bases() -> None:
    text = "global\n  crt-base /etc/ssl\nfrontend f\n  bind :443 ssl crt site.pem\n  bind :444 ssl crt .\n"
    assert lines(text, "/etc/ssl/site.pem") == [4, 5]
    assert lines(text, "/etc/other/site.pem") == []


def test_a_directory_stands_for_its_files() -> None:
    assert lines("frontend f\n  bind :443 ssl crt /etc/ssl/all/\n", "/etc/ssl/all/x.pem") == [2]


def test_a_script_may_load_another() -> None:
    assert lines("global\n  lua-load /etc/haproxy/main.lua\n", "/etc/haproxy/lib.lua") == [2]


PATHS = [f"/d{number}/{name}" for number in (1, 2) for name in ("a.map", "b.map", "x.pem", "s.lua", "c")]
WORDS = [
    *("/d1/a.map", "d1/a.map", "/d1", "/d2/", "'/d1/c'", "map(/d2/b.map,x)", "opt@/d1/b.map", "c", "a.map", "./a.map", ".", "..", "./"),
    *("./../d2/", '"$X/x.pem"', "crt:/d2/x.pem", "b.map", "/d1/../d2/c", '"$Y"'),
]
LINES = some.tuples(some.sampled_from(["ca-base", "lua-load", "x"]), some.lists(some.sampled_from(WORDS), max_size=2))


@law(300)
@given(some.lists(LINES, max_size=3))
def test_no_line_refers_to_what_is_unreferenced(lines: list[tuple[str, list[str]]]) -> None:
    text = "\n  ".join(["global", *(" ".join([keyword, *words]) for keyword, words in lines)])
    document = Document.parse(text.encode())
    assert unreferenced(document, PATHS, "/d1") == [path for path in PATHS if not references(document, path, "/d1")]


@pytest.mark.parametrize(
    ("before", "spelled"),
    [
        ("", "{maps}/hosts.map"),
        ("", "{maps}/../maps/hosts.map"),
        ("", "{maps}/sub/../hosts.map"),
        ("", "{top}/link/hosts.map"),
        ("", "{top}/link/sub/..//./hosts.map"),
        ("", "maps/hosts.map"),
        ("", "./link/../maps/hosts.map"),
        ("  default-path origin {top}/maps/sub\n", "../hosts.map"),
        ("  default-path origin {top}/link\n", "hosts.map"),
        ("  default-path parent\n", "{name}/maps/hosts.map"),
    ],
)
def test_a_path_is_one_however_it_is_spelled(tmp_path: Path, before: str, spelled: str) -> None:
    (tmp_path / "maps" / "sub").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "maps")
    path, names = f"{tmp_path}/maps/hosts.map", {"maps": f"{tmp_path}/maps", "top": str(tmp_path), "name": tmp_path.name}
    text = f"global\n{before}frontend f\n  http-request set-var(txn.a) path,map({spelled},none)\n".format_map(names)
    document, other = Document.parse(text), f"{tmp_path}/maps/sub/hosts.map"
    base = base_directory(document, str(tmp_path), str(tmp_path))
    for wanted in (path, f"{tmp_path}/link/hosts.map"):
        assert [each.keyword for each in references(document, wanted, base)] == ["http-request"]
    assert references(document, other, base) == []
    assert unreferenced(document, [path, other], base) == [other]


@pytest.mark.parametrize(
    ("line", "base", "maps"),
    [
        ("", "/work", "/work"),
        ("default-path current", "/work", "/work"),
        ("default-path config", "/etc/haproxy", "/etc/haproxy"),
        ('"default-path" parent', "/etc", "/etc"),
        ("default-path origin /x", "/work", "/x"),
        ("default-path origin x", "/work", "/work/x"),
    ],
)
def test_where_relative_paths_begin(line: str, base: str, maps: str) -> None:
    document = Document.parse(f"global\n  {line}\n  crt-base certs\n")
    assert base_directory(document, "/etc/haproxy", "/work") == base
    assert map_directory(document, base) == maps and path_of_name(document, base, "opt@a.map") == f"{maps}/a.map"
    assert f"{base}/certs" in bases(document, base)


def test_a_text_for_a_file_in_another_directory() -> None:
    text = "global\n  maxconn 5\n  default-path {}\n  crt-base certs\nfrontend f\n"
    for kind, directory in (("config # own", "/etc/my haproxy"), ("parent", "/etc")):
        made = with_named_base(Document.parse(text.format(kind)), "/etc/my haproxy").text
        assert made == text.format(f'origin "{directory}"')
    for kind in ("current", "origin /x"):
        document = Document.parse(text.format(kind))
        assert with_named_base(document, "/etc/haproxy") is document
    assert with_named_base(Document.parse("global\n"), "/etc/haproxy").text == "global\n"
