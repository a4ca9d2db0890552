"""After any edits, an ACL is above the lines that name it. HAProxy checks the result."""

import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from haproxy_native.editing.editor import standard_editor
from haproxy_native.text.document import Document
from tests.haproxy import binaries

EDITOR = standard_editor()
Object = dict[str, Any]
Road = Callable[[Document, tuple[Any, str], str, Object, str], Document]

# Rules come before ACLs. Only the last rule names `late`, and a line without a member names an ACL.
TEXT = """\
defaults base
  mode http
  timeout connect 1s
  timeout client 1s
  timeout server 1s
frontend web from base
  bind 127.0.0.1:18080
  monitor-uri /x
  acl known src 192.0.2.1
  tcp-request content reject if { src 192.0.2.2 }
  redirect location /y if known
  # the first
  http-request deny if { path /a }
  http-response deny if known
  http-after-response set-header a b if known
  use_backend app if known
  # by a person
  acl late src 192.0.2.3
  use_backend app if late
  default_backend app
backend app from base
  stick-table type ip size 1k
  force-persist if { src 192.0.2.4 }
  tcp-request content accept if { src 192.0.2.4 }
  tcp-response content accept if { src 192.0.2.4 }
  stick on src if { src 192.0.2.4 }
  use-server s if { src 192.0.2.4 }
  acl known src 192.0.2.1
  acl late src 192.0.2.3
  http-request deny if late
  server s 127.0.0.1:18081
"""
# The lines that can name an ACL: the section, its member, and the row.
NAMING: Mapping[str, tuple[str, str, Object]] = {
    "tcp request": ("frontends", "tcp_request_rule_list", {"type": "content", "action": "accept"}),
    "http request": ("frontends", "http_request_rule_list", {"type": "deny"}),
    "http response": ("frontends", "http_response_rule_list", {"type": "deny"}),
    "http after response": ("frontends", "http_after_response_rule_list", {"type": "del-header", "hdr_name": "a"}),
    "switching": ("frontends", "backend_switching_rule_list", {"name": "app"}),
    "monitor fail": ("frontends", "monitor_fail", {}),
    "stick": ("backends", "stick_rule_list", {"type": "match", "pattern": "src"}),
    "use server": ("backends", "server_switching_rule_list", {"target_server": "s"}),
    "tcp response": ("backends", "tcp_response_rule_list", {"type": "content", "action": "accept"}),
    "request of a backend": ("backends", "http_request_rule_list", {"type": "deny"}),
    "persistence": ("backends", "ignore_persist_list", {}),
}


def _acl(name: str) -> Object:
    return {"acl_name": name, "criterion": "src", "value": "192.0.2.9"}


def _whole(document: Document, section: tuple[Any, str], **changed: Any) -> Document:
    """Yield the results of a PUT and a PATCH of the section."""
    resource, name = section
    body = {**EDITOR.get_object(document, resource, None, name, full=True), **changed}
    return EDITOR.replace(document, resource, None, name, body, full=True)


def _with_row(document: Document, section: tuple[Any, str], member: str, row: Object, *, index: int | None) -> Document:
    child = dict(EDITOR.resources.children(section[0].name)).get(member)
    if child is not None:
        return EDITOR.create(document, child, section, row, index=index)
    body = EDITOR.get_object(document, section[0], None, section[1])
    return EDITOR.replace(document, section[0], None, section[1], {**body, **_own(body, member, row)})


def _own(body: Object, member: str, row: Object) -> Object:
    return {member: [*body.get(member, []), row] if member.endswith("_list") else row}


def _one_by_one(document: Document, section: tuple[Any, str], member: str, row: Object, acl: str) -> Document:
    document = EDITOR.create(document, EDITOR.resources["acls"], section, _acl(acl))
    return _with_row(document, section, member, row, index=0)


def _at_the_end(document: Document, section: tuple[Any, str], member: str, row: Object, acl: str) -> Document:
    document = EDITOR.create(document, EDITOR.resources["acls"], section, _acl(acl), index=2)
    return _with_row(document, section, member, row, index=None)


def _rule_first(document: Document, section: tuple[Any, str], member: str, row: Object, acl: str) -> Document:
    document = _with_row(document, section, member, row, index=0)
    return EDITOR.create(document, EDITOR.resources["acls"], section, _acl(acl))


def _by_a_list(document: Document, section: tuple[Any, str], member: str, row: Object, acl: str) -> Document:
    acls = EDITOR.resources["acls"]
    document = EDITOR.replace_all(document, acls, section, [*EDITOR.list_objects(document, acls, section), _acl(acl)])
    return _with_row(document, section, member, row, index=0)


def _at_once(document: Document, section: tuple[Any, str], member: str, row: Object, acl: str) -> Document:
    body = EDITOR.get_object(document, section[0], None, section[1], full=True)
    rows = {member: [row, *body.get(member, [])]} if member.endswith("_list") else {member: row}
    return _whole(document, section, acl_list=[*body["acl_list"], _acl(acl)], **rows)


def _another_section(document: Document, section: tuple[Any, str], member: str, row: Object, acl: str) -> Document:
    resource, name = section
    body = EDITOR.get_object(document, resource, None, name, full=True) | {"name": f"{name}-{acl}", "acl_list": [_acl(acl)], "binds": {}}
    body = {member_: value for member_, value in body.items() if member_ == "acl_list" or not member_.endswith("_list")}
    return EDITOR.create(document, resource, None, body | _own({}, member, row), full=True)


def _of_one_that_is_there(document: Document, section: tuple[Any, str], member: str, row: Object, acl: str) -> Document:
    return _with_row(document, section, member, row | {"cond_test": "!late"}, index=0)


ROADS: Mapping[str, Road] = {
    road.__name__: road for road in (_one_by_one, _at_the_end, _rule_first, _by_a_list, _at_once, _another_section, _of_one_that_is_there)
}


@pytest.mark.parametrize("wanted", ["2.6", ""])
@pytest.mark.parametrize("road", ROADS)
def test_haproxy_finds_each_acl(road: str, wanted: str, tmp_path: Path) -> None:
    binary = binaries.exactly(wanted) if wanted else binaries.newest()
    document = Document.parse(TEXT)
    for number, (collection, member, row) in enumerate(NAMING.values()):
        acl = f"new{number}"
        section = EDITOR.resources[collection], "web" if collection == "frontends" else "app"
        document = ROADS[road](document, section, member, row | {"cond": "if", "cond_test": f"!{acl}"}, acl)
    (file := tmp_path / "haproxy.cfg").write_text(document.text)
    ran = subprocess.run([binary, "-c", "-f", str(file)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, f"{ran.stderr}\n{document.text}"
    lost = [line for line in TEXT.splitlines() if line not in document.text.splitlines()]
    assert not lost
    assert re.search(r"# by a person\n  acl late", document.text), "a comment stays above its line"


def test_a_deletion_moves_nothing() -> None:
    """After the deletion of the first of two lines of an ACL, the other stays at its position, and the list lacks only the element."""
    acls, section = EDITOR.resources["acls"], (EDITOR.resources["frontends"], "web")
    text = TEXT.replace("  use_backend app if late\n", "  use_backend app if late\n  acl known src 192.0.2.9\n")
    document = Document.parse(text)
    rows = EDITOR.list_objects(document, acls, section)
    after = EDITOR.delete(document, acls, section, 0)
    assert after.text == text.replace("  acl known src 192.0.2.1\n", "", 1)
    assert EDITOR.list_objects(after, acls, section) == rows[1:]


HEAD = """\
frontend f
  mode http
  timeout client 1s
  bind 127.0.0.1:18080
"""
F = EDITOR.resources["frontends"], "f"


def _new(collection: str, body: Object, index: int) -> Callable[[Document], Document]:
    return lambda document: EDITOR.create(document, EDITOR.resources[collection], F, body, index=index)


def _edited(collection: str, index: int, **members: Any) -> Callable[[Document], Document]:
    resource = EDITOR.resources[collection]
    return lambda document: EDITOR.replace(
        document, resource, F, index, {**EDITOR.list_objects(document, resource, F)[index], **members, "index": index}
    )


def _last_rule_first(document: Document) -> Document:
    rules = EDITOR.resources["http_request_rules"]
    *others, last = EDITOR.list_objects(document, rules, F)
    return EDITOR.replace_all(document, rules, F, [last, *others])


def _denying(test: str) -> Object:
    return {"type": "deny", "cond": "if", "cond_test": test}


RULED = "  http-request deny if FALSE\n  acl a src 192.0.2.1\n  http-request allow if a\n"
LOCAL = (
    "  http-request deny deny_status 429 if LOCALHOST\n  acl b src 192.0.2.2\n"
    "  acl LOCALHOST src 192.0.2.1\n  http-request return status 200\n"
)
TOLD = "  description shown if maint\n  http-request deny if FALSE\n  acl maint src 192.0.2.1\n"
# In a branch that HAProxy does not read.
BRANCH = "  .if defined(NOTHING)\n  http-request deny if a\n  .endif\n  acl a src 192.0.2.1\n"
# The lines before, an edit, and the lines after.
EDITS: Mapping[str, tuple[str, Callable[[Document], Document], str]] = {
    "a new ACL keeps its index": (RULED, _new("acls", _acl("n"), 1), RULED.replace("0.2.1\n", "0.2.1\n  acl n src 192.0.2.9\n")),
    "also as the first": (RULED, _new("acls", _acl("n"), 0), RULED.replace("  acl a", "  acl n src 192.0.2.9\n  acl a")),
    "a rule below its predefined ACL": (
        LOCAL,
        _new("http_request_rules", _denying("!LOCALHOST"), 2),
        f"{LOCAL}  http-request deny if !LOCALHOST\n",
    ),
    "a rule above its predefined ACL": (
        LOCAL,
        _new("http_request_rules", _denying("LOCALHOST"), 0),
        f"  http-request deny if LOCALHOST\n{LOCAL}",
    ),
    "an edit of a rule with a predefined ACL": (LOCAL, _edited("http_request_rules", 0, deny_status=403), LOCAL.replace("429", "403")),
    "an edit of a predefined ACL": (LOCAL, _edited("acls", 1, value="192.0.2.3"), LOCAL.replace("0.2.1", "0.2.3")),
    "a predefined ACL that is new": (
        LOCAL.replace("  acl LOCALHOST src 192.0.2.1\n", ""),
        _new("acls", {"acl_name": "LOCALHOST", "criterion": "src", "value": "192.0.2.1"}, 1),
        LOCAL,
    ),
    "words of a text": (TOLD, _edited("acls", 0, value="192.0.2.3"), TOLD.replace("0.2.1", "0.2.3")),
    "a text above, and a rule": (
        TOLD,
        _new("http_request_rules", _denying("maint"), 0),
        "  description shown if maint\n  acl maint src 192.0.2.1\n  http-request deny if maint\n  http-request deny if FALSE\n",
    ),
    "an ACL in a text": (
        TOLD.replace("  acl maint src 192.0.2.1\n", "  acl other src 192.0.2.2\n"),
        _new("acls", {"acl_name": "maint", "criterion": "src", "value": "192.0.2.1"}, 1),
        TOLD.replace("  acl maint", "  acl other src 192.0.2.2\n  acl maint"),
    ),
    "an ACL that a line names in vain": (BRANCH, _edited("acls", 0, value="192.0.2.3"), BRANCH.replace("0.2.1", "0.2.3")),
    "a rule that moves": (
        RULED,
        _last_rule_first,
        "  acl a src 192.0.2.1\n  http-request allow if a\n  http-request deny if FALSE\n",
    ),
}


@pytest.mark.parametrize("case", EDITS)
def test_an_acl_moves_for_the_lines_of_the_edit_alone(case: str, tmp_path: Path) -> None:
    """HAProxy accepts the section before and after the edit, which moves no ACL that is already above the lines of the edit."""
    text, edit, wanted = EDITS[case]
    after = edit(Document.parse(HEAD + text)).text
    assert after == HEAD + wanted
    (file := tmp_path / "haproxy.cfg").write_text(after)
    ran = subprocess.run([binaries.newest(), "-c", "-f", str(file)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
