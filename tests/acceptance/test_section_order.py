"""Swap sections whose order has no meaning for HAProxy. It accepts any order, behaves the same, and needs no reload."""

import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from haproxy_native.planning.section_order import movable
from haproxy_native.text.document import Document
from tests.acceptance.effective import differences, effective, fresh
from tests.acceptance.quick import Quick, is_live
from tests.haproxy.process import HAProxy, free_port

HEAD = """\
global
    stats socket {stats} level admin
    maxconn 100
    localpeer me

defaults
    mode http
    timeout connect 1s
    timeout client 5s
    timeout server 5s

"""
# Each section refers to others by name. In either order, some sections come before those that they refer to.
SECTIONS = """\
frontend site
    bind 127.0.0.1:{port}
    log ring@events format rfc5424 local0
    errorfiles nice
    http-request auth if { path /secret } !{ http_auth(people) }
    http-request deny deny_status 403 if { path /no }
    http-request cache-use small if { path /never }
    http-request track-sc0 src table seen
    use_backend second if { path /second }
    default_backend first

backend first
    email-alert mailers post
    email-alert from a@example.com
    email-alert to b@example.com
    server s1 127.0.0.1:1 track second/s1
    server s2 name.invalid:80 resolvers names init-addr none check

backend second
    http-request return status 200 content-type text/plain string second
    server s1 127.0.0.1:1 check disabled

backend third
    use-fcgi-app php
    server s1 127.0.0.1:1 proto fcgi

backend seen
    stick-table type ip size 10 peers friends store gpc0

listen both
    bind 127.0.0.1:{other}
    errorfiles nice
    http-request return status 200 content-type text/plain string both

userlist people
    user one insecure-password x

resolvers names
    nameserver one 127.0.0.1:{dns}

peers friends
    bind 127.0.0.1:{peer}
    server me

mailers post
    mailer one 127.0.0.1:25

cache small
    total-max-size 4

http-errors nice
    errorfile 403 {errors}

ring events
    format rfc5424
    size 32768

log-forward syslog
    bind 127.0.0.1:{syslog}
    log ring@events local0

fcgi-app php
    docroot /srv
"""
SPLIT = "\n\n"
REFUSED = b"HTTP/1.0 403 No\r\n\r\nour own words"


def text(home: Path, *, backwards: bool) -> str:
    errors = home / "403.http"
    errors.write_bytes(REFUSED)
    found = SECTIONS.replace("{errors}", str(errors))
    for name in ("port", "other", "dns", "peer", "syslog"):
        found = found.replace(f"{{{name}}}", str(free_port()))
    sections = found.rstrip().split(SPLIT)
    return HEAD + SPLIT.join(sections[::-1] if backwards else sections) + "\n"


def test_every_free_kind_is_tried() -> None:
    assert {section.kind for section in Document.parse(SECTIONS).sections} == movable()


def answers(configuration: str) -> Iterator[tuple[int, bytes]]:
    port = next(line.rpartition(":")[2] for line in configuration.partition("frontend site")[2].splitlines() if "bind" in line)
    for path in ("/secret", "/no", "/second"):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as answer:
                yield answer.status, answer.read()
        except urllib.error.HTTPError as error:
            yield error.code, error.read()


def test_a_process_does_the_same_with_them_in_either_order(tmp_path: Path, haproxy_binaries: str) -> None:
    shown, served = [], []
    for backwards in (False, True):
        configuration = text(tmp_path, backwards=backwards)
        with fresh(tmp_path / "fresh", haproxy_binaries, configuration) as send:
            shown.append({name: value for name, value in effective(send).items() if not name.endswith(" addr")})
            served.append(list(answers(configuration)))
    assert differences(*shown) == []
    assert served[0] == served[1]
    assert [status for status, _ in served[0]] == [401, 403, 200]
    assert served[0][1][1] == b"our own words"


def test_a_pushed_text_with_them_in_another_order_takes_no_reload(tmp_path: Path, haproxy_binaries: str) -> None:
    forwards = text(tmp_path, backwards=False)
    head, sections = forwards[: len(HEAD)], forwards[len(HEAD) :].rstrip().split(SPLIT)
    with HAProxy(tmp_path, forwards, binary=haproxy_binaries) as haproxy, Quick(haproxy) as sidecar:
        worker = haproxy.worker_pid()
        moved = (head + SPLIT.join(sections[::-1]) + "\n").replace("{stats}", str(haproxy.stats))
        answer = sidecar.post("raw", moved, version=sidecar.version())
        assert is_live(answer), sidecar.why(answer)
        weighted = moved.replace("server s1 127.0.0.1:1 check", "server s1 127.0.0.1:1 weight 7 check")
        answer = sidecar.post("raw", weighted, version=sidecar.version())
        assert is_live(answer), sidecar.why(answer)
        state = sidecar.server("s1", "second")
        assert state and state.uweight == 7
        assert haproxy.worker_pid() == worker


@pytest.mark.parametrize("kind", ["global", "defaults", "crt-store"])
def test_what_acts_while_it_is_read_keeps_its_place(kind: str) -> None:
    assert kind not in movable()
