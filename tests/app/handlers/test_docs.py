"""The documentation needs neither credentials nor the network."""

import re

import pytest

from dataplaneapi.handlers.docs import page
from tests.app.client import Client, bare_exchange


def test_the_page_and_all_it_needs(client: Client) -> None:
    got = client.get("/v3/docs", auth=None)
    assert (got.status, got.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert b"<title>HAProxy Data Plane API</title>" in got.body
    needed = re.findall(r'(?:src|href)="([^"]+)"', got.body.decode())
    assert len(needed) == 4
    assert all(target.startswith("/v3/docs/") and client.get(target, auth=None).status == 200 for target in needed)
    assert client.get("/v3/docs/", auth=None).body == got.body
    assert b'"/swagger.json"' in client.get("/v3/docs/start.js", auth=None).body
    assert client.get("/swagger.json", auth=None).json["swagger"] == "2.0"


def test_nothing_may_be_fetched_from_elsewhere(client: Client) -> None:
    assert client.get("/v3/docs", auth=None).headers["Content-Security-Policy"].startswith("default-src 'self';")


@pytest.mark.parametrize(
    "name",
    ["../../main.py", "..%2F..%2Fmain.py", "none.js", "LICENSE.swagger-ui", "", "sub/x.js", "/etc/passwd", "a" * 300 + ".js", "a%00.js"],
)
def test_no_other_file_is_served(client: Client, name: str) -> None:
    assert page(bare_exchange(path=f"/v3/docs/{name}")) is None or name == ""
    assert client.get(f"/v3/docs/{name}", auth=None).status == (200 if name == "" else 401)
