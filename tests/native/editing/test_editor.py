"""CRUD on documents: what comes out, what stays as it was, and each refusal."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from haproxy_native.editing.editor import Editor
from haproxy_native.errors import BadValue, Exists, IndexOutOfRange, Missing, NativeError, NoParent, OtherName, Place
from haproxy_native.text.document import Document

TEXT = """\
# the operators' own
global
    maxconn 100

defaults base
    mode http

frontend web
    bind 127.0.0.1:80 name main

# the farm
backend app from base
    odd-directive 1
    acl local src 127.0.0.1
    server s1 192.0.2.1:80 weight 10
    server "s2" 192.0.2.2:80
"""
EDITOR = Editor()
GLOBAL, DEFAULTS, FRONTENDS, BACKENDS, SERVERS, ACLS, RULES = (
    EDITOR.resources[name] for name in ("global", "defaults", "frontends", "backends", "servers", "acls", "http_request_rules")
)
APP, NOBODY = (BACKENDS, "app"), (BACKENDS, "nobody")
SERVER = {"name": "s3", "address": "192.0.2.3", "port": 80}
ACL = {"acl_name": "new", "criterion": "path", "value": "/x"}


def document(text: str = TEXT) -> Document:
    return Document.parse(text.encode())


def test_reading() -> None:
    assert EDITOR.get_object(document(), GLOBAL, None, "") == {"performance_options": {"maxconn": 100}}
    assert EDITOR.list_objects(document(), FRONTENDS) == [{"from": "base", "name": "web"}], "bound by its place in the file"
    assert EDITOR.get_object(document(), SERVERS, APP, "s1") == {"name": "s1", "address": "192.0.2.1", "port": 80, "weight": 10}
    assert [each["name"] for each in EDITOR.list_objects(document(), SERVERS, APP)] == ["s1", "s2"]
    assert EDITOR.list_objects(document(), SERVERS, NOBODY) == []
    whole = EDITOR.get_object(document(), BACKENDS, None, "app", full=True)
    assert {"from", "name", "acl_list", "servers"} <= set(whole)
    assert list(whole["servers"]) == ["s1", "s2"]


def test_a_new_section_ends_its_lines_as_its_neighbors_do() -> None:
    head, mark, rest = TEXT.partition("\nfrontend web")
    before = document(head + mark + rest.replace("\n", "\r\n"))
    after = EDITOR.create(before, BACKENDS, None, {"name": "new", "mode": "http"})
    assert after.text == before.text + "\r\nbackend new\r\n    mode http\r\n"
    assert EDITOR.delete(after, BACKENDS, None, "new").text == before.text


def test_an_editor_that_nobody_uses_any_more_is_gone() -> None:
    editor = Editor()
    editor.replace(document(), BACKENDS, None, "app", {"name": "app", "from": "base"})
    kept = weakref.ref(editor)
    del editor
    gc.collect()
    assert kept() is None


def test_what_is_read_is_the_caller_s_own() -> None:
    same = document()
    EDITOR.list_objects(same, SERVERS, APP)[0]["weight"] = 99
    EDITOR.get_object(same, BACKENDS, None, "app")["mode"] = "tcp"
    assert EDITOR.get_object(same, SERVERS, APP, "s1")["weight"] == 10
    assert "mode" not in EDITOR.get_object(same, BACKENDS, None, "app")


EDITS: dict[str, tuple[Callable[[Document], Document], str, str]] = {
    "a member": (
        lambda before: EDITOR.replace(before, GLOBAL, None, "", {"performance_options": {"maxconn": 200}}),
        "maxconn 100",
        "maxconn 200",
    ),
    "a child": (
        lambda before: EDITOR.replace(before, SERVERS, APP, "s1", {"name": "s1", "address": "192.0.2.1", "port": 80}),
        " weight 10",
        "",
    ),
    "a new child": (
        lambda before: EDITOR.create(before, SERVERS, APP, SERVER),
        '"s2" 192.0.2.2:80\n',
        '"s2" 192.0.2.2:80\n    server s3 192.0.2.3:80\n',
    ),
    "a child at an index": (
        lambda before: EDITOR.create(before, ACLS, APP, ACL, index=0),
        "    acl local",
        "    acl new path /x\n    acl local",
    ),
    "a child at the end": (
        lambda before: EDITOR.create(before, ACLS, APP, ACL, index=-1),
        "127.0.0.1\n    server",
        "127.0.0.1\n    acl new path /x\n    server",
    ),
    "a list": (lambda before: EDITOR.replace_all(before, ACLS, APP, [ACL]), "local src 127.0.0.1", "new path /x"),
    "a child that goes": (lambda before: EDITOR.delete(before, SERVERS, APP, '"s2"'), '    server "s2" 192.0.2.2:80\n', ""),
    "a name without its quotes": (lambda before: EDITOR.delete(before, SERVERS, APP, "s2"), '    server "s2" 192.0.2.2:80\n', ""),
    "a section that goes, with its comment": (
        lambda before: EDITOR.delete(before, BACKENDS, None, "app"),
        "\n" + TEXT[TEXT.index("# the farm") :],
        "",
    ),
    "nothing": (lambda before: EDITOR.replace(before, BACKENDS, None, "app", EDITOR.get_object(before, BACKENDS, None, "app")), "", ""),
    "a binding that is so already": (
        lambda before: EDITOR.replace(before, FRONTENDS, None, "web", {"name": "web", "from": "base"}),
        "",
        "",
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_changes_only_its_words(name: str) -> None:
    edit, old, new = EDITS[name]
    before = document()
    after = edit(before)
    assert after.text == TEXT.replace(old, new, 1)
    assert before.text == TEXT, "nothing is changed in place"


def test_a_new_section_with_all_its_children() -> None:
    body: dict[str, Any] = {"name": "new", "mode": "tcp", "acl_list": [ACL], "servers": {"s3": SERVER}}
    after = EDITOR.create(document(), BACKENDS, None, body, full=True)
    assert after.text == TEXT + "\nbackend new\n    mode tcp\n    server s3 192.0.2.3:80\n    acl new path /x\n"
    assert EDITOR.get_object(after, BACKENDS, None, "new", full=True) == {**body, "from": "base"}, "bound by its place in the file"
    assert EDITOR.get_object(document(after.text), BACKENDS, None, "new", full=True) == {**body, "from": "base"}
    assert EDITOR.create(document(), BACKENDS, None, body).text == TEXT + "\nbackend new\n    mode tcp\n"


def test_a_whole_section_is_what_the_body_says() -> None:
    body = {"name": "app", "from": "base", "servers": {"s1": {"name": "s1", "address": "192.0.2.1", "port": 80, "weight": 10}}}
    after = EDITOR.replace(document(), BACKENDS, None, "app", body, full=True).find("backend", "app")
    assert after
    assert after.text == "backend app from base\n    odd-directive 1\n    server s1 192.0.2.1:80 weight 10\n"


REFUSED: dict[str, tuple[Callable[[Document], object], type[NativeError], str]] = {
    "get": (lambda it: EDITOR.get_object(it, BACKENDS, None, "nobody"), Missing, "missing object: Backend nobody does not exist"),
    "get a child": (
        lambda it: EDITOR.get_object(it, SERVERS, APP, "s9"),
        Missing,
        "missing object: server s9 does not exist in app backend",
    ),
    "get an index": (lambda it: EDITOR.get_object(it, ACLS, APP, 5), NativeError, "5"),
    "put": (lambda it: EDITOR.replace(it, BACKENDS, None, "nobody", {}), Missing, "missing object: backend nobody does not exist"),
    "delete": (lambda it: EDITOR.delete(it, BACKENDS, None, "nobody"), Missing, "missing object: backend nobody does not exist"),
    "post": (
        lambda it: EDITOR.create(it, BACKENDS, None, {"name": "app"}),
        Exists,
        "object already exists: backend app already exists",
    ),
    "post a child": (
        lambda it: EDITOR.create(it, SERVERS, APP, {**SERVER, "name": "s2"}),
        Exists,
        "object already exists: server s2 already exists in app backend",
    ),
    "rename": (lambda it: EDITOR.replace(it, SERVERS, APP, "s1", {**SERVER, "name": "s2"}), OtherName, "'s2', and the path names 's1'"),
    "post without a parent": (
        lambda it: EDITOR.create(it, SERVERS, NOBODY, SERVER),
        NoParent,
        "missing parent: backend nobody does not exist",
    ),
    "post behind the end": (
        lambda it: EDITOR.create(it, ACLS, APP, ACL, index=2),
        IndexOutOfRange,
        "index out of range: Object with id 2 in backend app out of range",
    ),
    "a line break": (lambda it: EDITOR.create(it, SERVERS, APP, {**SERVER, "cookie": "a\nb"}), BadValue, "cookie"),
    "from nowhere": (
        lambda it: EDITOR.create(it, BACKENDS, None, {"name": "b", "from": "gone"}),
        BadValue,
        "missing defaults section in from",
    ),
    "parameters of no check": (
        lambda it: EDITOR.create(it, EDITOR.resources["healthchecks"], None, {"name": "h", "httpchk_params": {"uri": "/"}}),
        BadValue,
        "type in body is required with httpchk_params.uri",
    ),
    "from itself": (
        lambda it: EDITOR.replace(it, DEFAULTS, None, "base", {"name": "base", "from": "base"}),
        BadValue,
        "inherit from itself",
    ),
    "check": (lambda it: EDITOR.check_exists(it, SERVERS, APP, "s9", "absent_delete"), Missing, "s9 does not exist"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    edit, kind, text = REFUSED[name]
    with pytest.raises(kind) as caught:
        edit(document())
    assert text in str(caught.value)


def test_lines_that_are_no_objects() -> None:
    text = TEXT.replace("    acl local", "    acl\n    acl local")
    assert EDITOR.unparsed(document(text), ACLS, APP) == [0]
    assert EDITOR.unparsed(document(text), ACLS, NOBODY) == []
    with pytest.raises(NativeError):
        EDITOR.get_object(document(text), ACLS, APP, 0)
    assert EDITOR.get_object(document(text), ACLS, APP, 1)["acl_name"] == "local"


SNIPPET = """\
frontend web
  bind :80
  ###_config-snippet_### BEGIN
  # theirs
  acl theirs src 192.0.2.1
  http-request deny if theirs
  maxconn 7
  ###_config-snippet_### END
  acl ours src 192.0.2.2
"""


def test_what_stands_in_a_snippet_is_text() -> None:
    document, web = Document.parse(SNIPPET), (FRONTENDS, "web")
    assert EDITOR.get_object(document, FRONTENDS, None, "web") == {"name": "web"}
    assert [each["acl_name"] for each in EDITOR.list_objects(document, ACLS, web)] == ["ours"]
    assert EDITOR.replace_all(document, RULES, web, []).text == SNIPPET
    new = EDITOR.create(document, ACLS, web, {"acl_name": "new", "criterion": "src", "value": "192.0.2.3"}, index=0)
    assert new.text == SNIPPET.replace("  acl ours", "  acl new src 192.0.2.3\n  acl ours")
    ruled = EDITOR.create(Document.parse(SNIPPET.replace("  acl ours src 192.0.2.2\n", "")), RULES, web, {"type": "allow"}, index=0)
    assert ruled.text.endswith("END\n  http-request allow\n")
    whole = EDITOR.replace(document, FRONTENDS, None, "web", {"name": "web"}, full=True)
    assert whole.text == SNIPPET.replace("  bind :80\n", "").replace("  acl ours src 192.0.2.2\n", "")


def test_what_is_never_shown_stays() -> None:
    caches = EDITOR.resources["caches"]
    made = EDITOR.create(document(), caches, None, {"name": "c", "total_max_size": 4, "metadata": {"a": 1}})
    assert EDITOR.get_object(made, caches, None, "c") == {"name": "c", "total_max_size": 4}
    again = EDITOR.replace(made, caches, None, "c", {"name": "c", "total_max_size": 5})
    assert 'cache c # {"a":1}\n  total-max-size 5\n'.replace("  ", "    ") in again.text
    assert "cache c\n" in EDITOR.replace(made, caches, None, "c", {"name": "c", "metadata": None}).text


BRANCHES = """backend app
    server s2 192.0.2.2:80
    .if defined(X)
    server s1 192.0.2.1:80   # ours
    .else
    server s1 192.0.2.9:80
    .endif
    server s0 192.0.2.3:80
"""


def test_a_whole_section_sent_back_stays_as_it_is() -> None:
    """Servers come as a mapping, which has no order."""
    body = EDITOR.get_object(document(BRANCHES), BACKENDS, None, "app", full=True)
    assert body["servers"]["s1"]["address"] == "192.0.2.1", "the first of a name, as where one is asked for"
    assert EDITOR.replace(document(BRANCHES), BACKENDS, None, "app", body, full=True).text == BRANCHES


def test_a_whole_section_with_another_server() -> None:
    body = EDITOR.get_object(document(BRANCHES), BACKENDS, None, "app", full=True)
    del body["servers"]["s2"]
    body["servers"]["new"] = {**body["servers"]["s0"], "name": "new"}
    body["servers"]["s0"]["weight"] = 5
    after = EDITOR.replace(document(BRANCHES), BACKENDS, None, "app", body, full=True)
    kept = BRANCHES.replace("    server s2 192.0.2.2:80\n", "")
    assert after.text == kept.replace(".3:80\n", ".3:80 weight 5\n    server new 192.0.2.3:80\n")


def test_what_one_of_several_lines_of_a_name_says_already() -> None:
    twins = EDITOR.list_objects(document(BRANCHES), SERVERS, APP)[1:3]
    for twin in twins:
        assert EDITOR.replace(document(BRANCHES), SERVERS, APP, "s1", twin).text == BRANCHES
    after = EDITOR.replace(document(BRANCHES), SERVERS, APP, "s1", {**twins[0], "port": 81})
    assert after.text == BRANCHES.replace("192.0.2.1:80", "192.0.2.1:81")


def test_a_name_in_branches_is_deleted_from_all() -> None:
    """The conditionals stay. Several in plain text are several objects: the first goes."""
    after = EDITOR.delete(document(BRANCHES), SERVERS, APP, "s1")
    assert after.text == "".join(line for line in BRANCHES.splitlines(keepends=True) if "s1" not in line)
    beside = BRANCHES + "    server s0 192.0.2.4:80\n    server s1 192.0.2.5:80\n"
    assert "s1" not in EDITOR.delete(document(beside), SERVERS, APP, "s1").text, "also the one outside"
    assert EDITOR.delete(document(beside), SERVERS, APP, "s0").text == beside.replace("    server s0 192.0.2.3:80\n", "")


@pytest.mark.parametrize("start", ["global\n", ""])
def test_a_section_in_branches_is_deleted_from_all(start: str) -> None:
    one, other = "backend b\n    server a 192.0.2.1:80\n", "backend b\n    server a 192.0.2.9:80\n"
    text = f"{start}.if defined(X)\n{one}.else\n{other}.endif\nbackend c\n"
    assert EDITOR.delete(document(text), BACKENDS, None, "b").text == f"{start}.if defined(X)\n.else\n.endif\nbackend c\n"
    plain = f"{start}{one}{other}"
    assert EDITOR.delete(document(plain), BACKENDS, None, "b").text == start + other


def test_a_section_made_anew_stands_below_its_own_comment() -> None:
    gone = EDITOR.delete(document(), BACKENDS, None, "app")
    assert "the farm" not in gone.text
    assert "# the farm\nbackend app\n" in EDITOR.create(gone, BACKENDS, None, {"name": "app"}).text
    assert "the farm" not in EDITOR.create(gone, BACKENDS, None, {"name": "other"}).text


@pytest.mark.parametrize(
    ("resource", "parent", "key"),
    [(BACKENDS, None, "app"), (SERVERS, APP, "s1"), (SERVERS, APP, "s2")],
)
def test_a_put_does_not_rename(resource: Any, parent: Any, key: str) -> None:
    body = EDITOR.get_object(document(), resource, parent, key)
    with pytest.raises(OtherName, match=f"name in body is 'other', and the path names '{key}'") as refused:
        EDITOR.replace(document(), resource, parent, key, {**body, "name": "other"})
    assert refused.value.place == Place(member="name")
    assert EDITOR.replace(document(), resource, parent, key, body).text == TEXT


def test_a_child_without_a_name_of_its_own_may_be_given_one() -> None:
    binds, web = EDITOR.resources["binds"], (FRONTENDS, "web")
    text = "frontend web\n    bind 127.0.0.1:80\n"
    body = {"name": "main", "address": "127.0.0.1", "port": 80}
    named = EDITOR.replace(document(text), binds, web, "127.0.0.1:80", body)
    assert named.text == "frontend web\n    bind 127.0.0.1:80 name main\n"
    with pytest.raises(OtherName):
        EDITOR.replace(named, binds, web, "main", {**body, "name": "other"})


def test_a_whole_section_keeps_what_no_object_can_express() -> None:
    body = EDITOR.get_object(document(), BACKENDS, None, "app", full=True)
    assert EDITOR.replace(document(), BACKENDS, None, "app", body, full=True).text == TEXT
    changed = EDITOR.replace(document(), BACKENDS, None, "app", {**body, "mode": "tcp"}, full=True)
    assert changed.text == TEXT.replace("    odd-directive 1\n", "    mode tcp\n    odd-directive 1\n")


@pytest.mark.parametrize(
    ("sent", "line"),
    [
        ("PING\r\n", "PING\\r\\n"),
        ("PING\\r\\n", "PING\\r\\n"),
        ("GET / HTTP/1.0\r\n\r\n", '"GET / HTTP/1.0\\r\\n\\r\\n"'),
        ("GET / HTTP/1.0\\r\\n\\r\\n", '"GET / HTTP/1.0\\r\\n\\r\\n"'),
        ('say \\"a\\" \\x0a "b"', '"say \\"a\\" \\x0a \\"b\\""'),
    ],
)
def test_line_breaks_of_what_a_check_sends(sent: str, line: str) -> None:
    """HAProxy's quoting can say them; elsewhere one would begin a new line of the file."""
    checks, body = EDITOR.resources["tcp_checks"], {"action": "send", "data": sent}
    after = EDITOR.create(document(), checks, APP, body)
    assert f"    tcp-check send {line}\n" in after.text
    assert EDITOR.get_object(after, checks, APP, 0)["data"] == line
    assert EDITOR.replace_all(document(), checks, APP, [body]).text == after.text
    whole = {"name": "app", "tcp_check_rule_list": [body]}
    assert f"  tcp-check send {line}\n" in EDITOR.replace(document(), BACKENDS, None, "app", whole, full=True).text
    with pytest.raises(BadValue, match="contains a line break"):
        EDITOR.create(document(), checks, APP, {**body, "check_comment": sent.replace("\\", "\r")})
