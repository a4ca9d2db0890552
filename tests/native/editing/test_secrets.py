import re

import pytest

from haproxy_native.editing.secrets import BLANK, Mask

MASK = Mask(b"key of this machine")
PRINT = re.compile(r"<masked:[0-9a-f]{12}>")


@pytest.mark.parametrize(
    "line",
    [
        "  user admin password $5$abc$defg groups ops",
        "user admin insecure-password hunter2",
        '-  user "a b" insecure-password "hunter 2"',
        "+\tuser a groups g1,g2 password hunter2 # the admin",
        "  cluster-secret hunter2",
        "  stats auth admin:hunter2",
        "  http-request set-header Authorization hunter2",
        '  http-check send meth GET uri / hdr Authorization "Basic hunter2"',
        "  http-request add-header Proxy-Authorization hunter2 if FALSE",
        "  dynamic-cookie-key hunter2",
        "  acme-vars ApiKey=hunter2,User=hunter3",
        r"  option httpchk GET / HTTP/1.1\r\nHost:\ a\r\nAuthorization:\ Basic\ hunter2",
        r'  option httpchk GET / HTTP/1.1 "Host: a\r\nAuthorization: Basic hunter2\r\nX: y"',
        r"  option httpchk GET / 'HTTP/1.1\r\nProxy-Authorization: Basic hunter2'",
        '  http-request set-header "Authorization" "Basic hunter2" if { path "/a" }',
        "  http-request set-header X-Api-Key hunter2",
        r"  tcp-check send PING\r\nAUTH\ hunter2\r\n",
        r'  tcp-check send "AUTH hunter2\r\n"',
        "  setenv DB_PASSWORD hunter2",
        "  presetenv github_token hunter2",
        '  http-request deny unless { http_auth_bearer,jwt_verify(txn.alg,"hunter2") -m int 1 }',
        "  http-request set-var(txn.x) path,hmac( sha256 , hunter2 ),hex",
        "  http-request set-var(txn.x) req.hdr(a),aes_gcm_dec(128,txn.nonce,hunter2,txn.tag)",
        r'  http-request set-header X "%[path,hmac(sha256,\"hunter2\")]"',
    ],
)
def test_a_secret_is_a_fingerprint(line: str) -> None:
    shown = MASK.text(f"global\n{line}\nbackend b\n")
    assert PRINT.search(shown) and "hunter" not in shown and "$5$" not in shown
    assert shown.startswith("global\n") and shown.endswith("\nbackend b\n") and shown.count("\n") == 3
    assert "# the admin" in shown or "#" not in line


def test_a_text_with_secrets_is_shown_without_its_checksum() -> None:
    """By which a short password could be found on another machine."""
    head = "# _md5hash=0123456789abcdef0123456789abcdef\n# _version=2\n"
    assert MASK.text(f"{head}peers p\n  cluster-secret hunter2\n").startswith("# _version=2\npeers p\n")
    assert MASK.text(f"{head}peers p\n") == f"{head}peers p\n"


@pytest.mark.parametrize(
    "line",
    [
        "http-request auth realm x",
        "setenv HOME /root",
        "http-request capture req.hdr(Authorization) len 10",
        "server s 127.0.0.1:80",
        "# user a password b",
        "http-request set-header X-User password",
        "acl user path /password x",
        "http-request set-var(txn.x) path,hmac(sha256,txn.key),jwt_verify(alg,proc.key)",
    ],
)
def test_all_else_stays(line: str) -> None:
    assert MASK.text(line) == line


def test_without_a_key_all_secrets_are_alike() -> None:
    assert BLANK.fingerprint("a") == BLANK.fingerprint("b") == "<masked>"


def test_equal_secrets_have_equal_fingerprints_on_one_machine_alone() -> None:
    assert MASK.fingerprint("a") == MASK.fingerprint(b"a") != MASK.fingerprint("b")
    assert Mask(b"another").fingerprint("a") != MASK.fingerprint("a")


def test_members_of_objects() -> None:
    effects = [{"object": "userlist/u/user/a", "member": "", "new": {"username": "a", "password": "x", "secure_password": True}}]
    (shown,) = MASK.value(effects)
    assert PRINT.fullmatch(shown["new"]["password"]) and shown["new"]["username"] == "a" and shown["new"]["secure_password"] is True
    assert MASK.value({"member": "password", "old": "x", "new": "y"})["old"] == MASK.fingerprint("x")
    assert MASK.value({"acme_vars": {"ApiKey": "x"}})["acme_vars"] == {"ApiKey": MASK.fingerprint("x")}
    assert MASK.value({"lines": ["stats auth a:b"]}) == {"lines": [f"stats auth {MASK.fingerprint('a:b')}"]}
    assert MASK.value({"weight": 1, "none": None}) == {"weight": 1, "none": None}


@pytest.mark.parametrize(
    "rule", [{"type": "set-header", "hdr_name": "Authorization", "hdr_format": "x"}, {"name": "authorization", "fmt": "x"}]
)
def test_values_of_headers_that_authenticate(rule: dict[str, str]) -> None:
    shown = MASK.value([{"old": None, "new": {**rule, "headers": [rule]}}])[0]["new"]
    assert [each for each in (shown | {"headers": ""}).values() if PRINT.search(str(each))] and "'x'" not in str(shown)


def test_both_sides_of_a_conflict_are_masked() -> None:
    shown = MASK.value({"object": "userlist/admins/user/ann", "member": "password", "theirs": "first", "mine": "second"})
    assert {shown["theirs"], shown["mine"]} == {MASK.fingerprint("first"), MASK.fingerprint("second")}


def test_a_variable_whose_name_says_so() -> None:
    shown = MASK.value([{"name": "DB_PASSWORD", "value": "x"}, {"name": "HOME", "value": "x"}])
    assert PRINT.fullmatch(shown[0]["value"]) and shown[1]["value"] == "x"


def test_a_fingerprint_has_none() -> None:
    shown = MASK.value({"password": "x"})
    assert MASK.value(shown) == shown and MASK.text(f"user a password {shown['password']}") == f"user a password {shown['password']}"


def test_further_members() -> None:
    mask = MASK.of_members(frozenset(("token",)))
    assert PRINT.fullmatch(mask.value({"token": "x"})["token"]) and MASK.value({"token": "x"}) == {"token": "x"}
