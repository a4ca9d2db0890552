"""Lines that HAProxy accepts are read whole, without unknown words, and a PUT of the read object changes nothing."""

from copy import deepcopy
from typing import Any

import pytest

from haproxy_native.text.document import Document
from tests.corpus.test_corpus import editor

# Collection, section, line, and the object that is read.
ROWS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("filters", "backend b", "filter spoe", {"type": "spoe"}),
    ("filters", "backend b", "filter spoe engine waf", {"type": "spoe", "spoe_engine": "waf"}),
    ("servers", "peers p", "server local", {"name": "local"}),
    ("binds", "frontend f", "bind :443 name b tcp-ut 10m", {"name": "b", "port": 443, "tcp_user_timeout": 600_000}),
    (
        "http_checks",
        "backend b",
        "http-check expect !status 500",
        {"type": "expect", "match": "status", "pattern": "500", "exclamation_mark": True},
    ),
    (
        "http_checks",
        "backend b",
        "http-check expect ! status 500",
        {"type": "expect", "match": "status", "pattern": "500", "exclamation_mark": True},
    ),
    (
        "http_checks",
        "healthcheck h",
        "http-check expect comment c !hdr name a value -m beg b",
        {"type": "expect", "match": "hdr", "pattern": "name a value -m beg b", "exclamation_mark": True, "check_comment": "c"},
    ),
    (
        "tcp_checks",
        "backend b",
        "tcp-check expect min-recv 5 !rstring ^error comment c",
        {"action": "expect", "match": "rstring", "pattern": "^error", "exclamation_mark": True, "check_comment": "c", "min_recv": 5},
    ),
    (
        "http_error_rules",
        "backend b",
        'http-error content-type text/plain string "x" status 404',
        {"type": "status", "status": 404, "return_content_type": "text/plain", "return_content_format": "string", "return_content": '"x"'},
    ),
    (
        "http_request_rules",
        "backend b",
        "http-request wait-for-body at-least 100 time 1s",
        {"type": "wait-for-body", "wait_at_least": 100, "wait_time": 1000},
    ),
    (
        "http_response_rules",
        "frontend f",
        "http-response wait-for-body at-least 1k time 1s",
        {"type": "wait-for-body", "wait_at_least": 1024, "wait_time": 1000},
    ),
    (
        "tcp_checks",
        "backend b",
        "tcp-check expect string +OK comment POP\\ protocol",
        {"action": "expect", "match": "string", "pattern": "+OK", "check_comment": "POP\\ protocol"},
    ),
]


@pytest.mark.parametrize(("collection", "section", "line", "said"), ROWS, ids=[row[2] for row in ROWS])
def test_a_line_is_read_whole(collection: str, section: str, line: str, said: dict[str, Any]) -> None:
    document, resource = Document.parse(f"{section}\n  {line}\n".encode()), editor().resources[collection]
    parent = next(each for each in editor().resources.by_name.values() if each.section == section.split()[0] and not each.parents)
    place = parent, section.split()[1]
    assert editor().unparsed(document, resource, place) == []
    (found,) = editor().list_objects(document, resource, place)
    assert found == said
    assert list(editor().unreadable(document.sections[0], parent)) == []
    assert editor().replace(document, resource, place, found.get(resource.key, 0), found).text == document.text
    whole = editor().get_object(document, parent, None, place[1], full=True)
    assert editor().replace(document, parent, None, place[1], whole, full=True).text == document.text


def test_an_edit_keeps_how_a_match_is_negated() -> None:
    text = "backend b\n  http-check expect !status   500\n"
    document, checks, parent = Document.parse(text.encode()), editor().resources["http_checks"], (editor().resources["backends"], "b")
    (found,) = editor().list_objects(document, checks, parent)
    assert editor().replace(document, checks, parent, 0, {**found, "pattern": "501"}).text == text.replace("500", "501")
    assert editor().replace(document, checks, parent, 0, {**found, "exclamation_mark": False}).text == text.replace("!", "")


@pytest.mark.parametrize(
    ("line", "without"),
    [
        ("server s 192.0.2.1:80 source 0.0.0.0 usesrc clientip", "server s 192.0.2.1:80"),
        ("server s 192.0.2.1:80 source 0.0.0.0 interface eth0 weight 1", "server s 192.0.2.1:80 weight 1"),
        ('server s 192.0.2.1:80 source 0.0.0.0 "usesrc" hdr_ip(x,-1) interface eth0 zork', "server s 192.0.2.1:80 zork"),
        ("server s 192.0.2.1:80 source 0.0.0.0 zork usesrc weight 1", "server s 192.0.2.1:80 zork usesrc weight 1"),
        ("server s 192.0.2.1:80 source 0.0.0.0 interface backup", "server s 192.0.2.1:80 backup"),
        ("server-template s 3 example.org:80 source 0.0.0.0 usesrc client check", "server-template s 3 example.org:80 check"),
        ("default-server source 0.0.0.0 usesrc client", "default-server"),
        ("default-server source 0.0.0.0 usesrc client weight 1", "default-server weight 1"),
        ("source 0.0.0.0 usesrc clientip interface eth0", ""),
    ],
)
def test_words_that_no_member_has_go_with_the_option_that_they_belong_to(line: str, without: str) -> None:
    backends = editor().resources["backends"]
    document = Document.parse(f"backend b\n  {line}\n".encode())

    def put(source: str | None) -> str:
        body = deepcopy(editor().get_object(document, backends, None, "b", full=True))
        children = (body.get(name, {}).get("s") for name in ("servers", "server_templates"))
        holder = next(filter(None, (*children, body.get("default_server"), body)))
        if source is None:
            holder.pop("source")
        elif isinstance(holder["source"], dict):
            holder["source"] |= {"address": source}
        else:
            holder["source"] = source
        return editor().replace(document, backends, None, "b", body, full=True).text

    assert put("0.0.0.0") == document.text
    assert put("192.0.2.9") == document.text.replace("0.0.0.0", "192.0.2.9")
    assert put(None) == "backend b\n" + (f"  {without}\n" if without else "")


def test_times_of_a_cookie_are_read_in_any_unit() -> None:
    text = "backend b\n  cookie S insert maxidle 30m maxlife 8h\n"
    document, backends = Document.parse(text.encode()), editor().resources["backends"]
    found = editor().get_object(document, backends, None, "b")
    assert found["cookie"] == {"name": "S", "type": "insert", "maxidle": 1800, "maxlife": 28_800}
    body = {**found, "cookie": {**found["cookie"], "maxidle": 60}}
    assert editor().replace(document, backends, None, "b", body).text == text.replace("30m", "60")


def test_a_server_needs_an_address_as_soon_as_it_says_more() -> None:
    """Only a peers section may have a server without an address: the local peer, whose address is on the bind line."""
    servers = editor().grammar.line("server")
    assert servers.new({"name": "local"}).text.strip() == "server local"
    with pytest.raises(Exception, match="weight set without address"):
        servers.new({"name": "local", "weight": 1})


def test_nameless_sections_are_addressed_by_number() -> None:
    text = "crt-store\n  load crt a.pem\ncrt-store web\n  load crt b.pem\ncrt-store\n  load crt c.pem\n"
    document, stores = Document.parse(text.encode()), editor().resources["crt_stores"]
    names = [each["name"] for each in editor().list_objects(document, stores)]
    assert names == ["unnamed_crt_store_1", "web", "unnamed_crt_store_2"]
    found = editor().get_object(document, stores, None, "unnamed_crt_store_2", full=True)
    assert editor().replace(document, stores, None, "unnamed_crt_store_2", found, full=True).text == text
    edited = editor().replace(document, stores, None, "unnamed_crt_store_2", {**found, "crt_base": "/ssl"}, full=True).text
    assert edited == text.replace("crt-store\n  load crt c", "crt-store\n  crt-base /ssl\n  load crt c")
    loads = editor().resources["crt_loads"]
    added = editor().create(document, loads, (stores, "unnamed_crt_store_1"), {"certificate": "d.pem"})
    assert added.text == text.replace("a.pem\n", "a.pem\n  load crt d.pem\n")
    assert editor().delete(document, stores, None, "unnamed_crt_store_1").text == text.removeprefix("crt-store\n  load crt a.pem\n")


@pytest.mark.parametrize("word", ["node", "desc"])
def test_a_line_of_the_statistics_page_without_its_value(word: str) -> None:
    """HAProxy then shows the values of the global section. No member has the bare line, so it stays, and it takes a new value."""
    text = f"backend b\n  stats show-{word}  # theirs\n  stats enable\n"
    document, backends = Document.parse(text.encode()), editor().resources["backends"]
    member = {"node": "stats_show_node_name", "desc": "stats_show_desc"}[word]
    found = editor().get_object(document, backends, None, "b", full=True)
    assert found["stats_options"] == {"stats_enable": True}
    assert list(editor().unreadable(document.sections[0], backends)) == []
    assert editor().replace(document, backends, None, "b", found, full=True).text == text
    named = editor().replace(document, backends, None, "b", {**found, "stats_options": {"stats_enable": True, member: "lb1"}}, full=True)
    assert named.text == text.replace(f"show-{word}", f"show-{word} lb1")
    assert editor().replace(named, backends, None, "b", found, full=True).text == "backend b\n  stats enable\n"
