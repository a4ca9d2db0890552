"""`ctl get` beside a real server."""

import json

from tests.acceptance.quick import Quick
from tests.app.ctl.calls import Ctl

BACKENDS = """\
NAME  FROM   BALANCE
shop  plain  roundrobin
"""
SERVERS = """\
NAME  ADDRESS    PORT  WEIGHT
web1  127.0.0.1  1     10
web2  127.0.0.1  2     20
"""
BACKEND = """\
from     plain
name     shop
balance  roundrobin
servers
  web1  weight=10 address=127.0.0.1 name=web1 port=1
  web2  weight=20 address=127.0.0.1 name=web2 port=2
acl_list
  0  acl_name=own criterion=path value=/own
http_request_rule_list
  0  cond=if cond_test=own type=deny
"""
TEXT = """\
# the shop
backend shop from plain
    balance roundrobin
    acl own path /own
    http-request deny if own
    server web1 127.0.0.1:1 weight 10
    server web2 127.0.0.1:2 weight 20
"""


def test_lists_are_tables(ctl: Ctl) -> None:
    assert ctl.output("get", "backend") == BACKENDS
    assert ctl.output("get", "backends/shop/servers") == SERVERS
    assert ctl.output("get", "backend/shop/acl") == "INDEX  ACL NAME  CRITERION  VALUE\n0      own       path       /own\n"
    assert ctl.output("get", "cache") == ""


def test_one_object_shows_its_members(ctl: Ctl) -> None:
    assert ctl.output("get", "backend", "shop") == ctl.output("get", "backend/shop") == BACKEND
    assert ctl.output("get", "backend/shop/server", "web1", "-o", "yaml").splitlines()[0] == "weight: 10"


def test_json_is_what_the_server_answers(ctl: Ctl, sidecar: Quick) -> None:
    assert json.loads(ctl.output("get", "backend/shop", "-o", "json")) == sidecar.get("backends/shop", full_section=True).json()
    assert json.loads(ctl.output("get", "-o=json", "map")) == []


def test_names_can_be_given_back(ctl: Ctl) -> None:
    assert ctl.output("get", "backend/shop/server", "-o", "name").split() == ["backend/shop/server/web1", "backend/shop/server/web2"]
    assert ctl.output("get", "-r", "backend/shop/server", "-o", "name").split() == ["backend/shop/server/web1", "backend/shop/server/web2"]
    assert ctl.output("get", "backend/shop/http_request_rule", "-o", "name") == "backend/shop/http_request_rule/0\n"


def test_cfg_is_the_text_of_an_object(ctl: Ctl) -> None:
    assert ctl.output("get", "backend/shop", "-o", "cfg") == TEXT
    assert ctl.output("get", "backend/shop/server/web2", "-o", "cfg") == "    server web2 127.0.0.1:2 weight 20\n"
    assert ctl.output("get", "frontend/site/bind/one", "-o", "cfg").endswith(" name one\n")
    assert "no text" in ctl.refusal(2, "get", "-r", "info", "-o", "cfg")


def test_the_running_process(ctl: Ctl) -> None:
    shown = ctl.output("get", "-r", "backend/shop/server").splitlines()
    assert shown[0].split()[:3] == ["NAME", "ADDRESS", "PORT"] and shown[1].split()[:3] == ["web1", "127.0.0.1", "1"]
    assert "release_date" in ctl.output("get", "-r", "info")


def test_a_transaction(ctl: Ctl, sidecar: Quick) -> None:
    transaction = sidecar.transaction()
    sidecar.post("backends", {"name": "more"}, transaction_id=transaction)
    assert "more" in ctl.output("get", "backend", "--transaction", transaction)
    assert "more" not in ctl.output("get", "backend")
    sidecar.delete(f"/v3/services/haproxy/transactions/{transaction}")


def test_what_is_not_there(ctl: Ctl) -> None:
    assert "Backend nope does not exist" in ctl.refusal(1, "get", "backend/nope")
    assert "Backend nope does not exist" in ctl.refusal(1, "get", "backend/nope", "-o", "cfg")
    assert "did you mean backend?" in ctl.refusal(2, "get", "backen")
    assert "backend/NAME/server" in ctl.refusal(2, "get", "server")
