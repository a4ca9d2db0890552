"""The API reference needs neither credentials nor the network."""

import hashlib
import json
import re

import pytest

from dataplaneapi.handlers.docs import STATIC, page
from tests.app.client import Client, bare_exchange
from tests.rules.sources import CHECKOUT


def test_the_page_and_all_it_needs(client: Client) -> None:
    got = client.get("/v3/docs", auth=None)
    assert (got.status, got.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "<title>API reference · Dataplane sidecar</title>" in got.body.decode()
    needed = re.findall(r'(?:src|href)="([^"]+)"', got.body.decode())
    assert all(target.startswith(("/v3/docs/", "/swagger.json")) and client.get(target, auth=None).status == 200 for target in needed)
    assert client.get("/v3/docs/", auth=None).body == got.body
    for name in ("openapi.json", "tasks.json", "examples.json"):
        assert f'"{name}"' in client.get("/v3/docs/start.js", auth=None).body.decode()
        assert client.get(f"/v3/docs/{name}", auth=None).json
    assert client.get("/v3/docs/openapi.json", auth=None).json["openapi"] == "3.0.3"
    assert client.get("/swagger.json", auth=None).json["swagger"] == "2.0"


def test_nothing_may_be_fetched_from_elsewhere(client: Client) -> None:
    assert client.get("/v3/docs", auth=None).headers["Content-Security-Policy"].startswith("default-src 'self';")


@pytest.mark.parametrize(
    "name",
    ["../../main.py", "..%2F..%2Fmain.py", "none.js", "LICENSE.swagger-ui", "", "sub/x.js", "/etc/passwd", "a" * 300 + ".js", "a%00.js"],
)
def test_no_other_file_is_served(shared_client: Client, name: str) -> None:
    assert page(bare_exchange(path=f"/v3/docs/{name}")) is None or name == ""
    assert shared_client.get(f"/v3/docs/{name}", auth=None).status == (200 if name == "" else 401)


def test_the_viewer_is_what_was_published() -> None:
    made = json.loads((STATIC / "vendor.json").read_text())
    for name, digest in made["sha256"].items():
        assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == digest, name
    lock = json.loads((CHECKOUT / "packaging/page/package-lock.json").read_text())["packages"]["node_modules/swagger-ui-dist"]
    row = made["packages"]["swagger-ui-dist"]
    assert (lock["version"], lock["integrity"]) == (row["version"], row["integrity"])
