"""One text is one document: pushing what the server itself has written changes nothing, by whichever calls it has come about."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from haproxy_native.editing.editor import standard_editor
from haproxy_native.planning.effects import effects
from haproxy_native.text.document import Document
from tests.app.client import CONFIG, CONFIGURATION, Client, settings

APPLY = "/v3/sidecar/apply"
PLAIN = {"Content-Type": "text/plain"}
# Without a section `global`, and with defaults that have no name.
BARE = CONFIGURATION.replace("global\n  maxconn 1000\n\n", "").replace("defaults base", "defaults").replace(" from base", "")


def _calls(chance: random.Random) -> Iterator[tuple[str, str, Any]]:
    name = f"b{chance.randrange(3)}"
    yield "POST", "backends", {"name": name, "mode": "http"}
    yield "POST", "backends?full_section=true", {"name": name, "servers": {"s": {"name": "s", "address": "127.0.0.1"}}}
    yield "POST", "frontends", {"name": f"f{chance.randrange(3)}", "default_backend": "app"}
    yield "POST", "defaults", {"name": f"d{chance.randrange(3)}", "mode": "http"}
    yield "POST", "backends", {"name": name, "from": f"d{chance.randrange(3)}"}
    yield "POST", f"backends/{name}/servers", {"name": f"s{chance.randrange(3)}", "address": "127.0.0.1", "weight": chance.randrange(1, 9)}
    yield "POST", f"backends/{name}/acls/0", {"acl_name": "a", "criterion": "src", "value": "127.0.0.1"}
    yield "PATCH", f"backends/{name}", {"mode": chance.choice(["http", "tcp"])}
    yield "PUT", f"backends/{name}", {"name": f"b{chance.randrange(3)}", "mode": "http"}
    yield "PUT", "global", {"performance_options": {"maxconn": chance.randrange(1, 99)}}
    yield "POST", "global/log_targets/0", {"address": "127.0.0.1", "facility": "local0"}
    yield "DELETE", f"backends/{name}", None
    yield "DELETE", f"defaults/d{chance.randrange(3)}", None


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("text", [CONFIGURATION, BARE], ids=["named", "bare"])
def test_the_servers_own_text_changes_nothing(tmp_path: Path, text: str, seed: int) -> None:
    chance, done = random.Random(seed), 0
    with Client(settings(tmp_path), text) as client:
        for _ in range(25):
            method, path, body = chance.choice(list(_calls(chance)))
            version = client.get(f"{CONFIG}/version").json
            sign = "&" if "?" in path else "?"
            done += client(method, f"{CONFIG}/{path}{sign}version={version}", body).status < 300
            now = client.app.services.engine.document
            again = Document.parse(now.data)
            assert effects(now, again) == effects(again, now) == ()
            for collection in ("backends", "frontends", "defaults"):
                resource = standard_editor().resources[collection]
                one, other = (standard_editor().list_objects(document, resource, full=True) for document in (now, again))
                assert one == other, "shown alike, before and after it is read"
        before = client.file.read_bytes()
        applied = client("PUT", f"{APPLY}?owner=me", before, headers=PLAIN)
        assert (applied.status, applied.json["changed"], applied.json["reload"]) == (200, [], False), applied.body
        assert client.file.read_bytes() == before
    assert done > 8, "hardly any call was made"


def test_a_weight_is_one_change_of_one_server(client: Client) -> None:
    """Also beside a section that a call has made without `from`."""
    client.post(f"{CONFIG}/backends?version=1", {"name": "x"})
    text = client.file.read_text().replace("app1 127.0.0.1:8081", "app1 127.0.0.1:8081 weight 7")
    planned = client("POST", "/v3/sidecar/plan", text.encode(), headers=PLAIN)
    assert [(effect["object"], effect["member"]) for effect in planned.json["effects"]] == [("backend/app/server/app1", "weight")]
