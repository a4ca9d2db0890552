"""A PUT, or a PATCH, with another name than its path's renames the object, and what names it, in one commit; HAProxy judges the result."""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.app.client import CONFIG, Client, settings
from tests.haproxy import binaries

TEXT = """\
global
  localpeer peer1
  expose-experimental-directives

defaults base1
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s

userlist list1
  group group1 users user1
  user user1 insecure-password x

resolvers dns1
  nameserver ns1 127.0.0.1:53

peers mates1
  peer peer1 127.0.0.1:8090
  table table1 type ip size 1k store gpc0

mailers mail1
  mailer mta1 127.0.0.1:25

cache cache1
  total-max-size 4

ring ring1
  format raw
  server log1 127.0.0.1:514

http-errors errors1
  errorfile 404 /dev/null

fcgi-app app1
  docroot /var/www

log-forward forward1
  bind 127.0.0.1:8091 name stream1
  dgram-bind 127.0.0.1:8092 name dgram1
  log stderr local0

frontend web1 from base1
  bind 127.0.0.1:8080 name bind1
  bind 127.0.0.1:8081
  acl known http_auth(list1)
  http-request track-sc0 src table mates1/table1
  http-request set-header a %[fe_conn(web1)]
  http-request cache-use cache1
  errorfiles errors1
  log ring@ring1 local0
  use_backend farm1 if known   # theirs
  default_backend farm1

frontend reverse
  mode http
  bind 127.0.0.1:8089
  bind rhttp@pool1/rev1
  timeout client 30s
  tcp-request session attach-srv pool1/rev1

backend pool1
  server rev1 rhttp@
  acl own srv_name rev1 -- other

backend farm1 from base1
  email-alert mailers mail1
  email-alert from a@example.org
  email-alert to b@example.org
  use-server srv1 if { srv_conn(farm1/srv1) gt 0 }
  server srv1 127.0.0.1:80 check resolvers dns1
  server other 127.0.0.1:81 track farm1/srv1
  server-template tpl1 2 127.0.0.1:82

defaults last1 from base1
  retries 2

backend php
  use-fcgi-app app1
  server php 127.0.0.1:83 proto fcgi
"""
# The path of each kind of named object, and its name.
OBJECTS = [
    ("defaults", "base1"),
    ("defaults", "last1"),
    ("groups?userlist=list1", "group1"),
    ("users?userlist=list1", "user1"),
    ("resolvers", "dns1"),
    ("nameservers?resolver=dns1", "ns1"),
    ("peers/mates1/tables", "table1"),
    ("peer_entries?peer_section=mates1", "peer1"),
    ("mailers_section", "mail1"),
    ("mailer_entries?mailers_section=mail1", "mta1"),
    ("caches", "cache1"),
    ("rings", "ring1"),
    ("rings/ring1/servers", "log1"),
    ("http_errors_sections", "errors1"),
    ("fcgi_apps", "app1"),
    ("log_forwards", "forward1"),
    ("log_forwards/forward1/binds", "stream1"),
    ("log_forwards/forward1/dgram_binds", "dgram1"),
    ("frontends", "web1"),
    ("frontends/web1/binds", "bind1"),
    ("backends", "farm1"),
    ("backends/farm1/servers", "srv1"),
    ("backends/farm1/server_templates", "tpl1"),
    ("backends", "pool1"),
    ("backends/pool1/servers", "rev1"),
]
KEYS = {"users": "username", "server_templates": "prefix"}
# Each object by one road, and by every road a section, an object that stands in another, and one whose query names that.
BY_EVERY_ROAD = [("defaults", "base1"), ("users?userlist=list1", "user1"), ("backends/farm1/servers", "srv1")]
ROADS = [
    pytest.param(road, *each, marks=() if road == "put" or each in BY_EVERY_ROAD else pytest.mark.soak)
    for road in ("put", "patch", "full", "transaction")
    for each in OBJECTS
]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Client(settings(tmp_path), TEXT) as client:
        yield client


def _is_followed(client: Client, text: str, old: str, new: str) -> None:
    """Each word of the old name is the new one, and nothing else differs; HAProxy takes it."""
    body = lambda text: text[text.index("global\n") :]  # noqa: E731
    assert body(text) == re.sub(rf"\b{old}\b", new, body(TEXT))
    ran = subprocess.run([binaries.newest(), "-c", "-f", str(client.file)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(("road", "path", "old"), ROADS)
def test_what_names_it_follows(client: Client, road: str, path: str, old: str) -> None:
    collection, _, parent = path.partition("?")
    key, new = KEYS.get(collection.rpartition("/")[2], "name"), f"{old[:-1]}9"
    one = lambda name, *query: f"{CONFIG}/{collection}/{name}?{'&'.join([parent, *query])}"  # noqa: E731
    full = ["full_section=true"] if road == "full" else []
    wanted, version = {**client.get(one(old, *full)).json, key: new}, "version=1"
    if road == "transaction":
        version = f"transaction_id={client.post('/v3/services/haproxy/transactions?version=1').json['id']}"
    call = client.patch if road == "patch" else client.put
    got = call(one(old, version, *full), {key: new} if road == "patch" else wanted)
    wanted = json.loads(re.sub(rf"\b{old}\b", new, json.dumps(wanted)))
    assert (got.status in (200, 202), got.json) == (True, wanted)
    if road == "transaction":
        assert client.get(one(old)).status == 200
        assert client.put(f"/v3/services/haproxy/transactions/{version.partition('=')[2]}").status in (200, 202)
    assert client.get(f"{CONFIG}/version").json == 2, "one commit"
    assert client.get(one(new, *full)).json == wanted
    assert client.get(one(old)).status == 404
    _is_followed(client, client.file.read_text(), old, new)


def test_its_members_change_with_it(client: Client) -> None:
    got = client.put(f"{CONFIG}/backends/farm1/servers/srv1?version=1", {"name": "srv9", "address": "127.0.0.7", "port": 1})
    assert got.json == {"name": "srv9", "address": "127.0.0.7", "port": 1}
    text = client.file.read_text()
    assert "  server srv9 127.0.0.7:1\n" in text and "track farm1/srv9" in text and "use-server srv9 " in text


@pytest.mark.parametrize(
    ("path", "body"), [("backends/farm1/servers/srv1", {"name": "other", "address": "127.0.0.1"}), ("backends/farm1", {"name": "web1"})]
)
def test_a_name_that_is_taken(client: Client, path: str, body: dict[str, Any]) -> None:
    client.post(f"{CONFIG}/backends?version=1", {"name": "taken"})
    before = client.file.read_text()
    got = client.put(f"{CONFIG}/{path}?version=2", body | ({"name": "taken"} if path == "backends/farm1" else {}))
    assert (got.status, client.file.read_text()) == (409, before), got.body


def test_what_is_not_there_and_what_is_no_name(client: Client) -> None:
    assert client.put(f"{CONFIG}/backends/none?version=1", {"name": "new"}).status == 404
    refused = client.put(f"{CONFIG}/backends/farm1/servers/srv1?version=1", {"name": "a,b", "address": "127.0.0.1"})
    assert (refused.status, refused.json["place"]["member"]) == (400, "name"), refused.body
    assert client.put(f"{CONFIG}/backends/farm1?version=7", {"name": "new"}).status == 409, "on a version that is not the current one"
    assert client.put(f"{CONFIG}/backends/farm1", {"name": "new"}).status == 400, "without a version"


@pytest.mark.parametrize("verb", ["put", "patch"])
def test_it_is_not_merged(client: Client, verb: str) -> None:
    """Whatever the version: another write may have named it meanwhile, and the refusal recommends no merge."""
    path, body = f"{CONFIG}/caches/cache1", {"name": "cache9", "total_max_size": 4}
    for version in ("version=1", "version=7"):
        refused = getattr(client, verb)(f"{path}?{version}&on_conflict=merge", body)
        assert (refused.status, "on_conflict=merge in query is not supported by a write that renames" in refused.message) == (400, True)
    plain = client.post("/v3/sidecar/rename?version=7", {"object": "cache/cache1", "to": "cache9"})
    for stale in (plain, getattr(client, verb)(f"{path}?version=7", body)):
        assert (stale.status, "on_conflict" in stale.json["remedy"]) == (409, False), stale.body
    assert getattr(client, verb)(f"{path}?version=1&on_conflict=refuse", body).status in (200, 202)


def test_a_line_without_a_name_gets_one(client: Client) -> None:
    path = f"{CONFIG}/frontends/web1/binds/{quote('127.0.0.1:8081', safe='')}"
    assert client.put(f"{path}?version=1", {"name": "second", "address": "127.0.0.1", "port": 8081}).json["name"] == "second"
    assert "  bind 127.0.0.1:8081 name second\n" in client.file.read_text()


def test_nameless_defaults_get_a_name(tmp_path: Path) -> None:
    with Client(settings(tmp_path), "defaults\n  mode http\n\nbackend b\n") as client:
        got = client.put(f"{CONFIG}/defaults/unnamed_defaults_1?version=1", {"name": "base", "mode": "http"})
        assert (got.status, got.json) == (202, {"name": "base", "mode": "http"}), got.body
        assert "defaults base\n  mode http\n\nbackend b\n" in client.file.read_text()
        assert client.get(f"{CONFIG}/backends/b").json["from"] == "base"


REPEATED = "defaults a\n  mode http\n\nfrontend f\n\ndefaults a\n  mode http\n  retries 7\n\nbackend b\n"


def test_each_of_two_defaults_with_one_name_is_edited_by_its_own(tmp_path: Path) -> None:
    with Client(settings(tmp_path), REPEATED) as client:
        assert [(each["name"], each.get("retries")) for each in client.get(f"{CONFIG}/defaults").json] == [("a", None), ("a_2", 7)]
        assert [client.get(f"{CONFIG}/{path}").json["from"] for path in ("frontends/f", "backends/b")] == ["a", "a_2"]
        second = client.get(f"{CONFIG}/defaults/a_2").json
        assert client.put(f"{CONFIG}/defaults/a_2?version=1", second).json == second
        assert REPEATED in client.file.read_text()
        assert client.put(f"{CONFIG}/defaults/a_2?version=2", {**second, "retries": 8}).status == 202
        assert REPEATED.replace("retries 7", "retries 8") in client.file.read_text()
        refused = client.delete(f"{CONFIG}/defaults/a?version=3")
        assert (refused.status, "frontend f has no `from` and is bound to defaults a" in refused.message) == (400, True)
        assert client.delete(f"{CONFIG}/frontends/f?version=3").status == 202
        assert client.delete(f"{CONFIG}/defaults/a?version=4").status == 202
        assert "defaults a\n  mode http\n  retries 8\n\nbackend b\n" in client.file.read_text()
        assert [each["name"] for each in client.get(f"{CONFIG}/defaults").json] == ["a"]


def test_one_of_two_defaults_with_one_name_gets_another(tmp_path: Path) -> None:
    with Client(settings(tmp_path), REPEATED) as client:
        assert client.post(f"{CONFIG}/backends?version=1", {"name": "c", "from": "a_2"}).status in (201, 202)
        assert "defaults a_2\n  mode http\n  retries 7\n" in client.file.read_text()
        assert client.put(f"{CONFIG}/defaults/a_2?version=2", {"name": "web", "mode": "http"}).status == 202
        text = client.file.read_text()
        assert ("defaults web\n  mode http\n\nbackend b\n" in text, "backend c from web\n" in text) == (True, True)


def test_a_site(client: Client) -> None:
    site = client.get("/v3/services/haproxy/sites/web1").json
    assert client.put("/v3/services/haproxy/sites/web1?version=1", {**site, "name": "web9"}).json["name"] == "web9"
    assert client.get("/v3/services/haproxy/sites/web1").status == 404
    assert "fe_conn(web9)" in client.file.read_text()


ROLES = {
    "all": [{"objects": "**", "may": ["read", "create", "change", "delete"], "reload": "any"}],
    "server": [{"objects": "backend/farm1/**", "may": ["read", "create", "change", "delete"], "reload": "any"}],
    "weights": [{"objects": "backend/*/server/*", "may": ["change"], "fields": ["weight"], "reload": "any"}],
    "elsewhere": [{"objects": "backend/php/**", "may": ["create", "change", "delete"], "reload": "any"}],
    "live": [{"objects": "**", "may": ["read", "create", "change", "delete"], "reload": "never"}],
}


@pytest.mark.parametrize(
    ("path", "object_"), [("backends/farm1", "backend/farm1"), ("backends/farm1/servers/other", "backend/farm1/server/other")]
)
def test_it_needs_the_permissions_of_a_rename(tmp_path: Path, path: str, object_: str) -> None:
    """A user with each role renames it by both roads, each on a configuration of its own."""
    users = [{"name": name, "password": "pw", "insecure": True, "role": name} for name in ("admin", *ROLES)]
    with ExitStack() as stack:
        clients = []
        for number in range(2):
            (directory := tmp_path / str(number)).mkdir()
            clients.append(stack.enter_context(Client(settings(directory, roles=ROLES, users=users), TEXT)))
        renaming, putting = clients
        body = putting.get(f"{CONFIG}/{path}", auth="admin:pw").json | {"name": "new"}
        for role in ROLES:
            version = f"version={renaming.engine.version()}"
            renamed = renaming.post(f"/v3/sidecar/rename?{version}", {"object": object_, "to": "new"}, auth=f"{role}:pw")
            put = putting.put(f"{CONFIG}/{path}?{version}", body, auth=f"{role}:pw")
            answers = [(got.status, got.message.replace("'", "") if got.status == 403 else "") for got in (renamed, put)]
            assert answers[0] == answers[1]
            assert renaming.file.read_text() == putting.file.read_text()
            is_refused = role in ("weights", "elsewhere", "live") or (role, path) == ("server", "backends/farm1")
            assert (put.status == 403) == is_refused
            if not is_refused:
                back = {"object": f"{object_.rpartition('/')[0]}/new", "to": object_.rpartition("/")[2]}
                for client in clients:
                    got = client.post(f"/v3/sidecar/rename?version={client.engine.version()}", back, auth="admin:pw")
                    assert got.status in (200, 202), got.body
