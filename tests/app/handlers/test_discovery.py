"""What lies below a path."""

import pytest

from tests.app.client import CONFIG, Client


def test_children_with_their_titles(client: Client) -> None:
    rows = client.get("/v3/services/haproxy").json
    urls = {row["url"] for row in rows}
    assert {"/services/haproxy/configuration", "/services/haproxy/reloads", "/services/haproxy/transactions"} <= urls
    assert all(row["title"] and row["description"] for row in rows)
    assert all(url.count("/") == 3 for url in urls)


def test_what_has_a_name_in_its_path_is_no_child(client: Client) -> None:
    urls = [row["url"] for row in client.get(CONFIG).json]
    assert "/services/haproxy/configuration/backends" in urls
    assert len(urls) == len(set(urls))
    assert not any("{" in url for url in urls)


def test_the_stores(client: Client) -> None:
    names = sorted(row["url"].rpartition("/")[2] for row in client.get("/v3/services/haproxy/storage").json)
    assert names == ["general", "maps", "ssl_certificates", "ssl_crt_lists"]


@pytest.mark.parametrize("target", ["/v3/services/", "/v3/services?x=1"])
def test_neither_slash_nor_query_matter(client: Client, target: str) -> None:
    assert client.get(target).json == client.get("/v3/services").json != []


@pytest.mark.parametrize("target", ["/v3", "/v3/"])
def test_the_root_is_not_served(client: Client, target: str) -> None:
    got = client.get(target)
    assert (got.status, got.message) == (404, "no matching operation was found")
