"""One stored file has one name: the name that a rule sees is the name of the file that is read or changed, however it is sent."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from dataplaneapi.api.operations import Operation
from tests.app.api.test_access import held, limited
from tests.app.client import Client, settings

# By the name of a store: its directory, the kind of its files, and a file that is the caller's own, and one that is not.
STORES = {
    "maps": ("maps", "map", "shop_own.map", "secret.map"),
    "general": ("general", "general", "shop_own.txt", "secret.txt"),
    "ssl_certificates": ("ssl", "certificate", "shop_own.pem", "secret.pem"),
    "ssl_crt_lists": ("ssl", "crt_list", "shop_own.crtlist", "secret.crtlist"),
}
# To be filled with the other's name.
WAYS = (
    "shop_/../{}",
    "shop_own.txt/../{}",
    "../x/{}",
    "shop_\\..\\{}",
    "shop_%2F..%2F{}",
    "./{}",
    "shop_\0/{}",
    "shop_\n/../{}",
    "{}/",
    "shop_*/{}",
)
SECRET = "secret 1\n"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    for directory, _, own, other in STORES.values():
        (tmp_path / directory).mkdir(exist_ok=True)
        (tmp_path / directory / own).write_text("own 1\n")
        (tmp_path / directory / other).write_text(SECRET)
    with Client(settings(tmp_path)) as client:
        yield client


def of_files(client: Client) -> list[Operation]:
    """Return the operations on one stored file, or on what stands in it."""
    return [each for each in client.app.services.index.operations if each.names and ("/storage/" in each.path or "/maps/" in each.path)]


def test_no_other_name_leads_to_a_file(client: Client) -> None:
    rules = [{"objects": f"{kind}/shop_*", "may": ["read", "create", "change", "delete"]} for _, kind, _, _ in STORES.values()]
    limited(client, shop=rules)
    before, asked = held(client), 0
    for operation in of_files(client):
        for way in (*WAYS, "{}"):
            name = way.format(STORES[operation.store or "maps"][3])
            for encoded in (quote(name, safe=""), quote(quote(name, safe=""), safe="")):
                path = "/v3" + operation.path.replace("{" + operation.names[0] + "}", encoded).replace("{id}", "secret")
                query = "?" + "&".join(f"{each.name}=1" for each in operation.parameters if each.location == "query" and each.required)
                answer = client(
                    operation.method, path + query, b"x 1\n" if operation.body else None, headers={"content-type": "text/plain"}
                )
                no_haproxy = answer.status == 500 and b"runtime client" in answer.body
                assert no_haproxy or answer.status in (400, 403, 404, 405, 415, 422), (operation, path, answer.status, answer.body)
                assert b"secret 1" not in answer.body
                asked += 1
    assert held(client) == before
    assert asked > 200


@pytest.mark.parametrize("store", STORES)
def test_a_rule_holds_for_the_file_and_not_for_how_it_is_called(client: Client, store: str) -> None:
    """A file is also found by the name that it was uploaded under, and a map without its extension; its own name counts."""
    directory, kind, _, other = STORES[store]
    end = other.rpartition(".")[2]
    (client.file.parent / directory / f"a_b.{end}").write_text(SECRET)
    limited(client, shop=[{"objects": f"{kind}/{name}", "may": ["read", "delete"]} for name in ("a b*", "a%20b*", "secret")])
    for name in (f"a%20b.{end}", "secret"):
        for method in ("GET", "DELETE"):
            answer = client(method, f"/v3/services/haproxy/storage/{store}/{name}")
            assert answer.status in (403, 404) and b"secret 1" not in answer.body, (name, answer.body)
    assert (client.file.parent / directory / other).exists() and (client.file.parent / directory / f"a_b.{end}").exists()
