"""What is left out of answers for those who may read a part: over all operations, nothing of what they may not read."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dataplaneapi.api.access import name_from_template
from dataplaneapi.api.operations import Operation
from dataplaneapi.settings.roles import read_roles
from tests.app.client import CONFIG, CONFIGURATION, Client, settings
from tests.app.handlers.sidecar.test_history import entered

MORE = """
backend hidden from base
  acl concealed path /concealed
  http-request set-header X-Concealed 1
  option httpchk GET /concealed
  server concealed 127.0.0.99:81

userlist concealed
  user concealed insecure-password concealed

resolvers concealed
  nameserver concealed 127.0.0.99:53
"""
# What no list or object shows a part of; each needs the right to read everything.
OF_EVERYTHING = {
    *("/sidecar/history/{id}/raw", "/sidecar/reload_advice", "/sidecar/fleet/releases/{number}/diff"),
}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Client]:
    (tmp_path / "maps").mkdir()
    for name in ("hidden.map", "shown.map"):
        (tmp_path / "maps" / name).write_text("concealed 1\n")
    with Client(settings(tmp_path), CONFIGURATION + MORE) as client:
        yield client


def limited(client: Client, *patterns: str, may: tuple[str, ...] = ("read",)) -> Client:
    rules = [{"objects": pattern, "may": list(may)} for pattern in patterns]
    client.app.services.roles = read_roles({"some": rules}, {"certificates": {"root": "admin"}}, [{"name": "admin", "role": "some"}])
    return client


def paths(operation: Operation) -> Iterator[str]:
    for name in ("hidden", "concealed", "hidden.map", "0"):
        filled = re.sub(
            r"\{(\w+)\}",
            lambda part, name=name: "hidden" if part[1] == "parent_name" else "0" if part[1] == "index" else name,
            operation.path,
        )  # type: ignore[misc]
        yield f"/v3{filled}"
        yield f"/v3{filled}?full_section=true&userlist=concealed"


def test_nothing_of_what_one_may_not_read(site: Client) -> None:
    assert "concealed" in site.get(f"{CONFIG}/backends?full_section=true").body.decode()
    limited(site, "backend/app", "map/shown.map", "frontend/**")
    for operation in site.app.services.index.operations:
        if operation.method != "GET" or operation.path.startswith(("/specification", "/sidecar/events")):
            continue
        for path in paths(operation):
            answer = site.get(path)
            # A refusal repeats what was asked for.
            if answer.status == 200:
                assert b"hidden" not in answer.body and b"concealed" not in answer.body, (path, answer.body)


def names(answer: Any) -> list[str]:
    return [each.get("name") or each["storage_name"] for each in answer.json]


def test_lists_have_what_one_may_read(site: Client) -> None:
    limited(site, "backend/app", "map/shown.map", "frontend/*/bind/*")
    assert names(site.get(f"{CONFIG}/backends")) == ["app"]
    assert names(site.get(f"{CONFIG}/backends?full_section=true")) == ["app"]
    assert names(site.get(f"{CONFIG}/backends/app/servers")) == ["app1"]
    assert names(site.get(f"{CONFIG}/backends/hidden/servers")) == []
    assert names(site.get(f"{CONFIG}/frontends")) == [] and names(site.get(f"{CONFIG}/frontends/web/binds")) == ["main"]
    assert names(site.get("/v3/services/haproxy/storage/maps")) == ["shown.map"]
    assert site.get("/v3/services/haproxy/storage/maps/hidden.map").status == 403
    assert site.get(f"{CONFIG}/backends/app").status == 200
    refused = site.get(f"{CONFIG}/backends/hidden")
    assert refused.status == 403 and "may not read backend/hidden; a rule that allows it: {objects: 'backend/hidden'" in refused.message
    assert site.get(f"{CONFIG}/backends/missing").status == 403, "whether it is there is not shown either"


def test_a_list_by_position_is_whole_or_refused(site: Client) -> None:
    limited(site, "backend/app", "backend/hidden/acl/0")
    assert len(site.get(f"{CONFIG}/backends/app/acls").json) == len(site.get(f"{CONFIG}/backends/hidden/acls").json) == 1
    refused = site.get(f"{CONFIG}/backends/hidden/http_request_rules")
    assert refused.status == 403 and "backend/hidden/http_request_rule/0" in refused.message


def test_a_rule_for_fields_is_one_for_reading(site: Client) -> None:
    rule = {"objects": "backend/*/server/app1", "fields": ["weight"], "may": ["read", "change"]}
    site.app.services.roles = read_roles({"ci": [rule]}, {"certificates": {"root": "admin"}}, [{"name": "admin", "role": "ci"}])
    server = site.get(f"{CONFIG}/backends/app/servers/app1").json
    version = site.get(f"{CONFIG}/version").json
    assert site.put(f"{CONFIG}/backends/app/servers/app1?version={version}", server | {"weight": 5}).status in (200, 202)


def test_history_shows_the_objects_that_one_may_read(site: Client) -> None:
    with entered(site):
        _history(site)


def _history(site: Client) -> None:
    version = site.get(f"{CONFIG}/version").json
    for backend in ("app", "hidden"):
        server = {"name": "more", "address": "127.0.0.98"}
        assert site.post(f"{CONFIG}/backends/{backend}/servers?version={version}", server).status in (201, 202)
        version += 1
    assert len(site.get("/v3/sidecar/history").json) >= 2
    limited(site, "backend/app")
    shown = site.get("/v3/sidecar/history").json
    assert [each["objects"] for each in shown] == [["backend/app", "backend/app/server/more"]]
    entry = site.get(f"/v3/sidecar/history/{shown[0]['id']}").json
    assert "diff" not in entry and {each["object"] for each in entry["effects"]} == {"backend/app/server/more"}
    assert site.get(f"/v3/sidecar/history/{int(shown[0]['id']) + 1}").status == 403
    _lines_of_sections(site, shown[0]["id"])


def _lines_of_sections(site: Client, id_: str) -> None:
    """By their names, however they are written."""
    lines = site.get("/v3/sidecar/blame?object=backend/%2561pp/server/app1").json
    assert lines[0]["text"] == "backend app from base" and [each["text"] for each in lines if each.get("entry") == id_] == [
        "  server more 127.0.0.98"
    ]
    assert "+  server more 127.0.0.98" in site.get(f"/v3/sidecar/history/{id_}/diff?object=backend/app").body.decode()
    for path in ("blame?object=backend/hidden", "blame?object=userlist/concealed", "blame?object=global", f"history/{id_}/diff"):
        assert site.get(f"/v3/sidecar/{path}").status == 403
    assert site.get("/v3/sidecar/blame?object=backend//x").status == site.get("/v3/sidecar/blame").status == 400
    limited(site, "backend/app/server/*")
    assert site.get("/v3/sidecar/blame?object=backend/app/server/app1").status == 403


def test_each_answer_of_ours_has_a_reading_rule(site: Client) -> None:
    ours = [each for each in site.app.services.index.operations if each.method == "GET" and each.path.startswith("/sidecar/")]
    without = {each.path for each in ours if not each.access and not each.rows}
    assert without == OF_EVERYTHING


def test_a_name_without_a_value() -> None:
    assert name_from_template("map/{storage_name}", {"storage_name": "a/b"}) == "map/a%2Fb"
    assert name_from_template("map/{storage_name}", {}) == "map/"
