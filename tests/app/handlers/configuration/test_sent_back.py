"""What HAProxy has loaded and a GET shows is accepted by every call that writes, whatever the document's patterns say of it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.app.client import CONFIG, Client, settings

BATCH = "/v3/sidecar/batch"
CONFIGURATION = """\
defaults base
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
  email-alert level alert
mailers mail.ers
  mailer one 127.0.0.1:25
crt-store my.store
  crt-base /tmp
http-errors web.errors
  errorfile 503 /dev/null
frontend web from base
  bind 127.0.0.1:8080 name main
  stats realm "Two words"
  http-request auth realm "Two words" if TRUE
backend "${APP}" from base
  http-check send meth PURGE uri /x
  server s :80
  server zero 127.0.0.1:0
"""
APP = "backends/%22%24%7BAPP%7D%22"
ONE = [
    "defaults/base",
    "mailers_section/mail.ers",
    "crt_stores/my.store",
    "http_errors_sections/web.errors",
    "frontends/web",
    "frontends/web/http_request_rules/0",
    APP,
    f"{APP}/http_checks/0",
    f"{APP}/servers/s",
    f"{APP}/servers/zero",
]
LISTS = ["frontends/web/http_request_rules", f"{APP}/http_checks"]
FULL = [f"{path}?full_section=true" for path in ("defaults/base", "mailers_section/mail.ers", "frontends/web", APP)]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Client(settings(tmp_path), CONFIGURATION) as client:
        yield client


def text(client: Client) -> str:
    """The file without its header."""
    return client.file.read_text().partition("defaults base")[2]


def version(client: Client) -> Any:
    return client.get(f"{CONFIG}/version").json


@pytest.mark.parametrize("path", [*ONE, *LISTS, *FULL])
def test_a_put_of_what_is_shown_changes_nothing(client: Client, path: str) -> None:
    before, target = text(client), f"{CONFIG}/{path}"
    got = client.get(target)
    assert got.status == 200, got.message
    joint = "&" if "?" in path else "?"
    put = client.put(f"{target}{joint}version={version(client)}", got.json)
    assert (put.json, text(client)) == (got.json, before)
    assert put.status == 200
    batch = client.post(BATCH, [{"method": "PUT", "path": target, "body": got.json}])
    assert (batch.status < 300, text(client)) == (True, before), batch.message
    id_ = client.post(f"/v3/services/haproxy/transactions?version={version(client)}").json["id"]
    assert client.put(f"{target}{joint}transaction_id={id_}", got.json).status == 202
    assert client.put(f"/v3/services/haproxy/transactions/{id_}").status < 300
    assert text(client) == before


@pytest.mark.parametrize("path", ONE)
def test_a_patch_of_another_member_keeps_it(client: Client, path: str) -> None:
    target = f"{CONFIG}/{path}"
    shown = client.get(target).json
    got = client.patch(f"{target}?version={version(client)}", {"metadata": {"team": "web"}})
    assert (got.status, got.json) == (202, {**shown, "metadata": {"team": "web"}})
    assert [line for line in text(client).splitlines() if "team" not in line] == [
        line for line in CONFIGURATION.partition("defaults base")[2].splitlines() if line.strip() not in changed(text(client))
    ]


def changed(after: str) -> list[str]:
    """The lines that got metadata, as they were."""
    return [line.partition(" # ")[0].strip() for line in after.splitlines() if "team" in line]


def test_a_declaration_of_what_is_shown_is_accepted(client: Client) -> None:
    kinds = {"defaults": "defaults/base", "mailers_section": "mailers_section/mail.ers", "frontends": "frontends/web"}
    declared = {kind: [client.get(f"{CONFIG}/{path}?full_section=true").json] for kind, path in kinds.items()}
    got = client.put("/v3/sidecar/apply?owner=team", declared)
    assert got.status < 300, got.message


def test_a_new_value_is_judged(client: Client) -> None:
    rule = client.get(f"{CONFIG}/frontends/web/http_request_rules/0").json
    target = f"{CONFIG}/frontends/web/http_request_rules/0?version=1"
    assert client.put(target, {**rule, "auth_realm": "Two words"}).status == 422
    assert client.patch(target, {"auth_realm": "Two words"}).status == 422
    assert client.post(f"{CONFIG}/mailers_section?version=1", {"name": "two.mailers"}).status == 422
    for name in ("no%22where", "no%3Bwhere"):
        assert client.get(f"{CONFIG}/backends/{name}/servers").status == 400
