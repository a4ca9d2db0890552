"""Which object of the configuration a path means."""

import pytest

from dataplaneapi.api.place import place_of
from haproxy_native.editing.object_names import name_of
from tests.app.client import CONFIG, Client


@pytest.mark.parametrize(
    ("path", "values", "expected"),
    [
        ("/backends/{name}", {"name": "app"}, "backend/app"),
        ("/backends/{parent_name}/servers/{name}", {"parent_name": "a/b", "name": "s"}, "backend/a%2Fb/server/s"),
        ("/backends/{parent_name}/acls/{index}", {"parent_name": "app", "index": 2}, "backend/app/acl/2"),
        ("/users/{username}", {"userlist": "people", "username": "ann"}, "userlist/people/user/ann"),
        ("/global", {}, "global"),
        ("/global/log_targets/{index}", {"index": 0}, "global//log_target/0"),
    ],
)
def test_one(shared_client: Client, path: str, values: dict[str, object], expected: str) -> None:
    services = shared_client.app.services
    operation = next(each for each in services.index.operations if each.path == CONFIG.removeprefix("/v3") + path and each.method == "GET")
    place = place_of(operation, values, services.editor, one=True)
    assert name_of(place) == expected
    assert place_of(operation, values, services.editor, one=False).key == ""
