"""The table of what a shadow keeps."""

import pytest

from haproxy_native.shadow.rewrite import begins, drop_words, ending, health, keep_words, listener_words, server_words, unknown, words


def test_words_stay_with_their_arguments() -> None:
    line = "ssl crt /a.pem interface eth0 alpn h2,http/1.1 tfo".split()
    assert keep_words(line, listener_words()) == "ssl crt /a.pem alpn h2,http/1.1".split()
    assert keep_words("check inter 5s weight 10 backup".split(), server_words()) == "weight 10 backup".split()


def test_words_go_with_their_arguments() -> None:
    assert drop_words("type ip size 1m peers p expire 5m".split(), {"peers": 1}) == "type ip size 1m expire 5m".split()


def test_the_beginning_of_a_line_is_whole_words() -> None:
    assert begins(["log", "global"], "log") and begins(["no", "log"], "no log")
    assert not begins(["log-format", "x"], "log") and not begins(["option"], "option httplog")


@pytest.mark.parametrize(
    "rule", ["http-request deny if a", "redirect prefix /a", "tcp-request content reject", "http-request return status 200"]
)
def test_what_answers_in_the_place_of_a_server(rule: str) -> None:
    assert ending().match(rule)
    assert not ending().match(rule.replace("deny", "allow").replace("redirect", "x").replace("reject", "accept").replace("return", "x"))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("http-request deny if { rand(100) lt 5 }", "chance"),
        ("acl often sc_http_req_rate(0) gt 10", "stick table"),
        ("acl often src_http_req_rate gt 10", "stick table"),
        ("acl mine ssl_c_s_dn(cn) a", "certificate"),
        ("http-request lua.check", "Lua"),
        ("acl local src 10.0.0.0/8", ""),
        ("http-request set-header X-Port %[src_port]", ""),
        ("server brand 10.0.0.1:80", ""),
    ],
)
def test_what_is_not_known(line: str, why: str) -> None:
    found = [each for pattern, each in unknown() if pattern.search(line)]
    assert (why in found[0]) if why else not found


def test_what_depends_on_the_states_of_servers() -> None:
    assert health().search("use_backend x if { nbsrv(y) lt 1 }")
    assert not health().search("use_backend x if { hdr_cnt(y) lt 1 }")


def test_every_section_of_a_proxy_is_kept() -> None:
    assert {*words()["proxies"], *words()["listening"]} <= {*words()["sections"]}
