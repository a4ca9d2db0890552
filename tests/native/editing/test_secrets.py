"""What is shown of texts and objects, and the law that both are one walk."""

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from haproxy_native.editing.secret_kinds import is_shown
from haproxy_native.editing.secrets import (
    MASKED,
    line_shapes,
    masked_lines,
    masked_member,
    masked_message,
    masked_object,
    masked_text,
    masked_value,
    refuse_masked,
    refuse_masked_text,
)
from haproxy_native.errors import Incomplete, NativeError
from haproxy_native.grammar.line_shape import LineShape
from haproxy_native.grammar.load import bundle, grammar
from haproxy_native.text.line import Line
from tests.samples import line_samples

HIDDEN = [
    "user ann password hunter2 groups g",
    'user "a b" insecure-password "hunter 2"',
    'user ann "password" hunter2',
    "user ann pass\\word hunter2",
    "cluster-secret hunter2",
    "stats auth admin:hunter2",
    'stats "auth" admin:hunter2',
    "dynamic-cookie-key hunter2",
    "acme-vars ApiKey=hunter2,User=b",
    'setenv "DB_PASSWORD" hunter2',
    '"setenv" GREETING hunter2',
    "presetenv GREETING hunter2",
    "set-var proc.x str(hunter2)",
    'set-var-fmt proc.x "hunter2 %[date]"',
    "lua-load /etc/x.lua hunter2",
    "lua-load-per-thread /etc/x.lua hunter2",
    "ssl-passphrase-cmd /bin/echo hunter2",
    "bind :443 tcp-md5sig hunter2",
    "bind :443 ssl crt /a.pem ca-sign-pass hunter2",
    "server s 192.0.2.1:80 tcp-md5sig hunter2",
    "server s 192.0.2.1:80 agent-send hunter2",
    "server s 192.0.2.1:80 sni str(hunter2)",
    "server s 192.0.2.1:80 pool-conn-name str(hunter2),lower",
    "server s 192.0.2.1:80 set-proxy-v2-tlv-fmt(0xE1) hunter2",
    "server s 192.0.2.1:80 redir http://u:hunter2@a",
    "server s 192.0.2.1:80 no-such-option hunter2",
    "http-request set-header Authorization hunter2",
    'http-request set-header X-Anything "Bearer hunter2" if { path /a }',
    'http-request add-header "proxy-authorization" hunter2',
    "http-request replace-header Authorization .* hunter2",
    "http-request replace-header Cookie (.*)hunter2(.*) \\1",
    "http-request replace-value X-Api-Key hunter2 x",
    "http-response set-header Set-Cookie sid=hunter2",
    "http-after-response replace-header Set-Cookie a hunter2",
    "http-request early-hint X-Token hunter2",
    'http-request "set-header" X-A hunter2',
    "http-request set-var(txn.x) str(hunter2)",
    "http-request set-var(txn.x) path,hmac( sha256 , hunter2 ),hex",
    "http-request set-var(txn.x) req.hdr(a),aes_gcm_dec(128,txn.nonce,hunter2,txn.tag)",
    "http-request set-var(txn.x) req.hdr(a),concat(hunter2)",
    'http-request set-var-fmt(txn.x) "hunter2"',
    r'http-request set-header X "%[path,hmac(sha256,\"hunter2\")]"',
    'http-request deny unless { http_auth_bearer,jwt_verify(txn.alg,"hunter2") -m int 1 }',
    "http-request deny unless { req.hdr(X-Api-Key) -m str hunter2 }",
    "http-request deny if a !{ req.hdr(X-Api-Key) hunter2 } or b",
    "http-request deny if { st\\r(hunter2) -m found }",
    "http-request deny if { hdr(authorization),lower -m beg hunter2 }",
    "http-request deny if { cook(sid) hunter2 }",
    "http-request set-query token=hunter2",
    "http-request set-uri /a?token=hunter2",
    "http-request set-path /a?token=hunter2",
    "http-request replace-path (.*) /a?token=hunter2",
    "http-request replace-pathq (.*) /a?token=hunter2",
    "http-request set-map(/a.map) %[src] hunter2",
    "http-request redirect location https://a/?token=hunter2",
    "http-request redirect prefix / set-cookie sid=hunter2",
    "http-request return status 200 content-type text/plain string hunter2",
    "http-request return status 200 hdr X-A hunter2",
    "http-request lua.check hunter2",
    "http-request no-such-action hunter2",
    "acl key req.hdr(X-Api-Key) -m str hunter2",
    "acl key url_param(token) hunter2",
    "acl key var(txn.token) -m str hunter2",
    "acl key str(hunter2),lower -m found",
    "option httpchk GET /health?token=hunter2",
    r"option httpchk GET / HTTP/1.1\r\nAuthorization:\ Basic\ hunter2",
    'http-check send meth GET uri / hdr Authorization "Basic hunter2"',
    "http-check send meth POST uri / body hunter2",
    "http-check send uri /?token=hunter2",
    "http-check expect string hunter2",
    r"tcp-check send AUTH\ hunter2\r\n",
    "tcp-check send-binary 68756e7465723a",
    "tcp-check send-lf hunter2",
    "tcp-check expect string hunter2",
    "errorloc302 500 https://a/?token=hunter2",
    "no option httpchk GET /?hunter2",
    "set-param API_KEY hunter2",
    "no-such-keyword hunter2",
    ".if streq(hunter2,a)",
    "# user ann password hunter2",
    "log global # the password is hunter2",
]

SHOWN = [
    "user haproxy",
    "user ann groups g",
    "mode http",
    "no log",
    "server s 192.0.2.1:80 check weight 10 sni req.hdr(host)",
    "http-request set-header X-Forwarded-Proto https if { ssl_fc }",
    "http-request set-header X-Client %[src]",
    'http-response set-header Strict-Transport-Security "max-age=31536000; includeSubDomains"',
    "http-request set-var(txn.x) path,lower,field(2,/)",
    "http-request set-path /new%[path]",
    "http-request redirect scheme https code 301",
    "http-request return status 200 errorfile /etc/x.http",
    "http-request deny if api !{ src 192.0.2.0/24 } || { hdr(host) -i a.example } { http_auth(u) }",
    "http-request deny if { req.hdr(X-Api-Key) -m found }",
    "http-request deny if { req.hdr(X-Api-Key) -f /keys }",
    "acl api path_beg /api /v2",
    "acl host req.hdr(Host),lower -m str a.example",
    "acl many hdr_cnt(X-Api-Key) gt 3",
    "use_backend shop if api",
    "use_backend %[req.hdr(host),lower,map(/etc/hosts.map,shop)]",
    "option httpchk GET /health HTTP/1.1",
    'log-format "%ci:%cp [%tr] %ft %ST (%[ssl_fc_sni])"',
    "stick-table type ip size 1m expire 10m store http_req_rate(10s)",
    "# _version=17",
]


@pytest.mark.parametrize("line", HIDDEN)
def test_a_credential_is_masked(line: str) -> None:
    for shown in (masked_lines(f"global\n  {line}\nbackend b\n"), masked_lines(f"--- a\n+++ b\n@@ -1 +1 @@\n-  {line}\n+  {line}\n")):
        assert MASKED in shown and "hunter" not in shown and "68756e" not in shown, shown


@pytest.mark.parametrize("line", SHOWN)
def test_all_else_is_shown(line: str) -> None:
    text = f"global\n  {line}\n" if not line.startswith("#") else f"{line}\nglobal\n"
    assert masked_lines(text) == text


def test_a_text_is_shown_without_its_checksum() -> None:
    assert masked_lines("# _md5hash=0123456789abcdef0123456789abcdef\n# _version=2\npeers p\n") == "# _version=2\npeers p\n"
    assert masked_lines("--- a\n+++ b\n@@ -1 +1 @@\n-# _md5hash=0123\n+# _version=2\n") == "--- a\n+++ b\n@@ -1 +1 @@\n+# _version=2\n"


def variants() -> Iterator[tuple[LineShape, str, dict[str, Any]]]:
    """Objects of each kind of line, with a credential in each member that may hold one."""
    for shape in {id(shape): shape for shape in line_shapes(grammar())}.values():
        for sample in line_samples(shape):
            yield from ((shape, member, {**sample, member: "hunter2"}) for member in shape.secrets if isinstance(sample.get(member), str))


def test_a_line_shows_what_its_object_shows() -> None:
    wrong, members = [], set()
    for shape, member, values in variants():
        with suppress(NativeError):
            line = shape.new(values, "", "\n")
            if (shape.read(line) or {}).get(member) == "hunter2":
                is_public = is_shown(shape.secrets[member], "hunter2", values)
                members.add(member)
                if ("hunter2" in masked_lines(line.text)) != is_public:
                    wrong.append((member, line.text, masked_lines(line.text)))
    assert wrong == [] and len(members) > 40


def test_objects_are_masked_along_their_schema() -> None:
    rule = {
        "type": "set-header",
        "hdr_name": "X-Key",
        "hdr_format": "hunter2",
        "cond": "if",
        "cond_test": "{ path /a }",
        "metadata": {"a": "b"},
    }
    assert masked_object([rule], "http_request_rule") == [{**rule, "hdr_format": MASKED}]
    assert masked_object({"name": "u", "users": {"a": {"username": "a", "password": "x"}}}, "userlist")["users"]["a"]["password"] == MASKED
    checks = {"type": "send", "headers": [{"name": "Host", "fmt": "a"}, {"name": "X-Key", "fmt": "b"}]}
    assert masked_object(checks, "http_check")["headers"] == [{"name": "Host", "fmt": "a"}, {"name": "X-Key", "fmt": MASKED}]


def test_what_is_not_declared_is_masked() -> None:
    assert masked_object({"name": "b", "new_member": {"deep": ["x", 1, None]}}, "backend")["new_member"] == {"deep": [MASKED, 1, None]}
    assert masked_value({"a": "x"}, {}) == {"a": MASKED} and masked_value("x", {}) == MASKED


@pytest.mark.parametrize(
    ("value", "object_", "member", "shown"),
    [
        ("x", "userlist/u/user/ann", "password", MASKED),
        ("g", "userlist/u/user/ann", "groups", "g"),
        ({"username": "a", "password": "x"}, "userlist/u/user/a", "", {"username": "a", "password": MASKED}),
        (["stats auth a:b", "bogus c"], "backend/b", "lines", [f"stats auth {MASKED}", f"bogus {MASKED}"]),
        ({"name": "b", "lines": ["bogus c"]}, "backend/b", "", {"name": "b", "lines": [f"bogus {MASKED}"]}),
        ("drain", "backend/b/server/s", "admin_state", "drain"),
        ("10.0.0.1", "backend/b/server/s", "address", "10.0.0.1"),
        ("x", "map/a.map/entry/k", "value", "x"),
        ("x", "no/such", "member", MASKED),
        ("x", "backend/b", "no_member", MASKED),
        (7, "backend/b/server/s", "weight", 7),
    ],
)
def test_a_member_of_an_object_by_its_name(value: Any, object_: str, member: str, shown: Any) -> None:
    assert masked_member(value, object_, member) == shown
    effect = {"object": object_, "member": member, "old": value, "new": None}
    assert masked_object([effect], "effect") == [{**effect, "old": shown}]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("parsing [a.cfg:7]: 'user ann password hunter2 x': unknown", f"parsing [a.cfg:7]: 'user ann password {MASKED} {MASKED}"),
        ("at line 3: http-request set-header X hunter2", f"at line 3: http-request set-header X {MASKED}"),
        ("add server b/s 192.0.2.1:80 tcp-md5sig hunter2", f"add server b/s 192.0.2.1:80 tcp-md5sig {MASKED}"),
        ("unknown keyword 'foo' in 'backend' section", "unknown keyword 'foo' in 'backend' section"),
    ],
)
def test_quotations_in_messages(text: str, shown: str) -> None:
    assert masked_text(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "[ALERT] (1) : config : parsing [a.cfg:7] : 'setenv' cannot handle unexpected argument 'hunter2'.",
            "'setenv' cannot handle .*'<masked>'.",
        ),
        (
            "line 12 of a.cfg, in 'frontend web from base': 'hunter2' is not a number",
            "line 12 of a.cfg, in 'frontend web from base': '<masked>' is not a number",
        ),
        (
            "validation error: regex 'hunter2(' is invalid (error=missing closing parenthesis)",
            "'<masked>' is invalid .error=missing closing parenthesis.$",
        ),
        (
            "line 3 of a.cfg, in 'backend b': failed to parse sample expression <path,hmac(sha256, hunter2)]> : invalid arg",
            "'<masked>' : invalid arg$",
        ),
        ("line 3 of a.cfg, in 'backend b': 'hunt'hunter2'er' is bad", "'<masked>' is bad$"),
        ("line 3 of a.cfg, in 'backend b': 'x' or 'hunter2", "'<masked>'$"),
        ("line 3 of a.cfg, in 'backend b': unknown keyword 'x' in <hunter2", "'<masked>'$"),
        ("line 3 of a.cfg, in 'backend b': 'server b/s' : unknown keyword 'hunter2'", "'server b/s' : unknown keyword '<masked>'$"),
        (
            "line 3 of a.cfg, in 'backend b': error detected while parsing ACL 'k' : 'hunter2' is not valid",
            "ACL 'k' : '<masked>' is not valid$",
        ),
        ("line 3 in 'backend b': server s 192.0.2.1:80 agent-send 'hunter2' cookie 'a'", "agent-send <masked> cookie 'a'$"),
        ("validation error: x\nHAProxy's check has 'hunter2' only if", "HAProxy's check has '<masked>' only if$"),
    ],
)
def test_what_haproxy_quotes_is_masked(text: str, shown: str) -> None:
    refused, message = (
        masked_object({member: text}, name)[member] for member, name in (("reason", "history_entry"), ("text", "haproxy_message"))
    )
    assert refused == message == masked_message(text) and "hunter2" not in refused and re.search(shown, refused), refused


def test_a_message_that_is_not_of_haproxy_is_shown() -> None:
    text = "unknown member 'contxts'; did you mean 'contexts'?"
    assert masked_object({"reason": text}, "history_entry") == {"reason": text}


@pytest.mark.parametrize(
    ("sent", "schema", "place"),
    [
        ({"name": "u", "users": {"ann": {"password": MASKED}}}, "userlist", "users.ann.password"),
        ([{"hdr_format": f"a {MASKED}"}], "http_request_rule", "0.hdr_format"),
        ({"headers": {"X-Key": [MASKED]}}, "explain_question", "headers.X-Key.0"),
        ({"config": f"global\n  cluster-secret {MASKED}\n"}, "explain_question", "line 2"),
    ],
)
def test_what_is_masked_is_not_taken_back(sent: Any, schema: str, place: str) -> None:
    with pytest.raises(Incomplete, match=f"^{place} has {MASKED} in place of .*PATCH.*`secrets`"):
        refuse_masked(sent, grammar().schemas.named(schema))


def test_masked_is_refused_only_in_the_place_of_a_secret() -> None:
    for schema, sent in (
        ("backend", {"name": "b", "description": f"about {MASKED}", "metadata": {"note": MASKED}}),
        ("map_entry", {"key": "a", "value": MASKED}),
    ):
        refuse_masked(sent, grammar().schemas.named(schema))
    refuse_masked_text(f"# a note on {MASKED}\nbackend b # {MASKED}\n  # user a password {MASKED}\n  description x{MASKED}\n".encode())
    for word in (MASKED, f'"{MASKED}"'):
        with pytest.raises(Incomplete, match=f"^line 3 has {MASKED}"):
            refuse_masked_text(f"# {MASKED}\nglobal\n  cluster-secret {word} # x\n".encode())


def test_an_answer_of_one_is_masked_like_an_element_of_the_list() -> None:
    """Of all operations that take one or several."""
    one = {"location": "/?k=hunter2", "listener": {"frontend": "f"}, "variables": {"txn.user": "hunter2"}}
    shown = masked_object(one, "explanations")
    assert [shown] == masked_object([one], "explanations") and shown["listener"] == one["listener"] and "hunter2" not in str(shown)


def test_answers_of_explain_and_tests_show_no_credential() -> None:
    """Headers, variables, captured values and lines, in all members that an answer has."""
    question = {"url": "https://a/?k=hunter2", "headers": {"X-Key": ["hunter2"], "Host": "a"}, "body": "hunter2", "config": "x hunter2\n"}
    message = {"line": "GET /?k=hunter2 HTTP/1.1", "headers": [{"name": "Cookie", "value": "hunter2"}, {"name": "Host", "value": "a"}]}
    line = {"line": 1, "text": "http-request set-header X-Key hunter2", "section": "frontend f"}
    explanation = {
        "listener": {"frontend": "f", "bind": ":80", "line": 1},
        "variables": {"txn.user": "hunter2"},
        "location": "/?k=hunter2",
        "rules": [{**line, "because": [{"term": "{ hdr(x) hunter2 }", "acl": [line]}]}],
        "answered_by": line,
        "request": message,
        "response": message,
        "unknown": [{**line, "why": "x"}],
        "new": {"shape": "hunter2"},
    }
    result = {
        "name": "n",
        "passed": False,
        "seconds": 1.0,
        "request": question,
        "expect": {"request_headers": {"X-Key": "hunter2"}},
        "got": {"response_headers": {"Set-Cookie": ["hunter2"]}, "location": "/?hunter2"},
        "reason": "X-Key is hunter2",
        "rules": [line],
    }
    shown = [
        masked_object(explanation, "explanation"),
        masked_object(result, "routing_result"),
        masked_object(question, "explain_question"),
    ]
    assert "hunter2" not in str(shown)
    assert shown[0]["request"]["headers"][1] == {"name": "Host", "value": "a"} and shown[1]["request"]["headers"]["Host"] == "a"


def test_schemas_of_answers_are_declared() -> None:
    for path, methods in bundle()["paths"].items():
        for method, operation in methods.items():
            for response in operation.get("responses", {}).values():
                for kind, content in response.get("content", {}).items():
                    assert content.get("schema"), (method, path, kind)


def test_a_line_is_not_changed_where_nothing_is_masked() -> None:
    line = Line('  acl  api\tpath_beg   "/api"   \n').text
    assert masked_lines(line) == line


@pytest.mark.parametrize(
    "text",
    [
        "config : parsing [a.cfg:6] : error in 'deny' : 'hunter2' y' is not a valid address at line 1 of file '/etc/users'.",
        "parsing [/etc/users:1] : unknown keyword 'hunter2' out of section.",
        "line 7 of a.cfg, in 'frontend web': 'bind :83' in section 'frontend' : 'crt-list' : no file 'hunter2'x' : No such file.",
    ],
)
def test_words_of_files_that_haproxy_quotes(text: str) -> None:
    """A list of certificates, and other files that a line names, are quoted in the place of the line."""
    assert "hunter2" not in str(masked_object({"code": 400, "message": f"validation error: {text}"}, "error"))
