"""Call every operation of the served document with a real HAProxy, and compare its answers with the declaration."""

import json
import os
from collections.abc import Iterator

import pytest

from haproxy_native.features.fleet.sealing import new_secret
from tests.acceptance.examples import EXAMPLES, shapes
from tests.acceptance.quick import Quick
from tests.acceptance.walk import Walk
from tests.acceptance.walk_areas import AREAS, STRANGERS
from tests.haproxy import binaries
from tests.haproxy.etcd import EtcdMember
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import USER
from tests.laws.referee import furnish

CONFIGURATION = """\
global
    stats socket {{stats}} level admin expose-fd listeners
    expose-experimental-directives
    crt-base {home}

traces
    trace h1 sink stderr

defaults base
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s

defaults spare
    mode http

frontend web from base
    bind 127.0.0.1:{port} name main
    bind 127.0.0.1:{tls} name tls ssl crt-list {home}/loaded.list
    acl blocked src -f {home}/blocked.acl
    default_backend app

backend app from base
    stick-table type ip size 100 store gpc0
    server s1 127.0.0.1:2

backend other from base
    http-request set-header X-Map %[path,map({home}/maps_dir/loaded.map,none)]

listen both from base
    stick-table type ip size 100
    server s1 127.0.0.1:2

ring one
    size 32768

peers one

resolvers one
    nameserver one 127.0.0.1:53

mailers one

userlist one
    group one users one
    user one insecure-password x

cache one
    total-max-size 4

http-errors one

log-forward one

log-profile one

fcgi-app one
    docroot /srv

crt-store one

acme one
    directory https://127.0.0.1/directory

crt-store renewed
    crt-base {home}
    load crt renewed.pem acme one domains site.test

healthcheck one
    type httpchk

healthcheck tcp
    type tcp-check
"""
ADMIN = {"user": [{"name": USER[0], "password": USER[1], "insecure": True, "role": "admin"}]}
FILES = {
    **dict.fromkeys(("site.pem", "other.pem", "third.pem", "renewed.pem"), "<certificate>"),
    "loaded.list": "site.pem\n",
    "blocked.acl": "192.0.2.1\n",
    "maps_dir/loaded.map": "/a 1\n/b 2\n",
}


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quick]:
    """Run a server whose reloads wait until the end, with roles, which tokens need."""
    directory = tmp_path_factory.mktemp("walk")
    (directory / "maps_dir").mkdir()
    furnish(directory, FILES)
    text = CONFIGURATION.format(home=directory, port=free_port(), tls=free_port())
    (key := directory / "fleet.key").write_text(new_secret())
    key.chmod(0o600)
    with EtcdMember(directory) as etcd, HAProxy(directory, text, binary=binaries.exactly("3.4")) as haproxy:
        sidecar = Quick(haproxy, delay=3_600_000, dataplaneapi=ADMIN)
        with sidecar.file.open("a") as file:
            file.write(f"fleet: {{group: edge, node: lb1, endpoints: ['{etcd.url}'], keys: ['{key}']}}\n")
        with sidecar:
            yield sidecar


@pytest.mark.parametrize("everywhere", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_every_operation_answers_as_declared(sidecar: Quick, everywhere: bool) -> None:
    """An operation on one resource in several parents is called in one of them, and in all of them if `everywhere`."""
    everywhere |= "RECORD_EXAMPLES" in os.environ
    walk = Walk(sidecar, sidecar.get("/v3/specification_openapiv3").json())
    walk.plain_reads()
    walk.resources(everywhere=everywhere)
    for area in AREAS:
        area(walk)
    strangers = walk.strangers()
    assert not walk.trouble, "\n".join(walk.trouble)
    if "RECORD_EXAMPLES" in os.environ:
        EXAMPLES.write_text(walk.examples.text())
    stored = json.loads(EXAMPLES.read_text())
    shown = shapes(walk.examples.by_id)
    expected = {id_: shape for id_, shape in shapes(stored).items() if everywhere or id_ in shown}
    assert shown == expected, "the reference shows something else: RECORD_EXAMPLES=1 pytest tests/acceptance/test_walk.py"
    strangers = [each for each in strangers if everywhere or "resource" not in each.about]
    writes = {each.id for each in walk.operations if each.method != "GET"} - {each.id for each in strangers}
    assert writes <= {id_ for id_, example in stored.items() if "status" in example}
    assert len(strangers) <= STRANGERS, f"give them an area in walk_areas.py: {', '.join(map(str, strangers))}"
