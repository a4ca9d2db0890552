"""Rename objects with real traffic, at runtime if HAProxy can, and otherwise by a reload."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.acceptance.farm import Farm, farm_of
from tests.acceptance.quick import SERVICES
from tests.until import until

RENAME, REFERENCES, MAPS = "/v3/sidecar/rename", "/v3/sidecar/references", f"{SERVICES}/storage/maps"
OWNERS, OVERRIDES = "/v3/sidecar/owners", "/v3/sidecar/overrides"
LINES = """\
    acl known path /known   # stays
    use_backend "v2" if known {{ nbsrv(v2) gt 0 }}
    use_backend %[path,map({maps}/paths.map,v3)]
    default_backend v3

backend v1 from plain
    server s 127.0.0.1:{v1}

backend v2 from plain
    server s 127.0.0.1:{v2}

backend v3 from plain
    server s 127.0.0.1:{v3}
"""
ENTRIES = "# paths\n/one   v1\n/v1 v3\n/three\tv3  \n"


class Renamed(Farm):
    def rename(self, object_: str, to: str, **parameters: object) -> httpx2.Response:
        return self.sidecar.post(RENAME, {"object": object_, "to": to}, **parameters)

    def asked(self, path: str) -> str:
        return httpx2.get(f"{self.url}{path}", timeout=60, verify=False).text

    @property
    def maps(self) -> Path:
        return self.sidecar.directory / "maps_dir"

    def map(self, name: str = "paths.map") -> str:
        return (self.maps / name).read_text()

    def plain(self) -> str:
        """Return the configuration without the comments at its top."""
        return self.sidecar.text()[self.sidecar.text().index("global\n") :]


@pytest.fixture(params=[pytest.param("2.6", marks=pytest.mark.soak), "3.4"])
def farm(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Renamed]:
    maps = tmp_path / "maps_dir"
    maps.mkdir()
    (maps / "paths.map").write_text(ENTRIES)
    lines = LINES.replace("{maps}", str(maps))
    with farm_of(Renamed, tmp_path, request.param, lines, "v1", "v2", "v3") as found:
        yield found


def rows(found: object) -> list[tuple[str, str]]:
    assert isinstance(found, list)
    return [(row["object"], row["how"]) for row in found]


def test_a_backend_that_a_map_alone_names(farm: Renamed) -> None:
    before = farm.sidecar.text()
    found = farm.sidecar.get(REFERENCES, object="backend/v1").json()
    assert rows(found["references"]) == [("frontend/site", "map"), ("map/paths.map", "map value")] and found["not_followed"] == []
    planned = farm.rename("backend/v1", "first", dry_run=True)
    assert planned.status_code == 200 and planned.json()["valid"], planned.text
    assert "+backend first from plain" in planned.json()["diff"] and [each["object"] for each in planned.json()["files"]] == [
        "map/paths.map"
    ]
    assert farm.sidecar.text() == before and farm.asked("/one") == "v1"
    answer = farm.rename("backend/v1", "first")
    assert farm.sidecar.reloaded(answer)["status"] == "succeeded", farm.sidecar.why(answer)
    assert farm.asked("/one") == "v1" and farm.sidecar.get("backends/v1").status_code == 404
    assert farm.map() == ENTRIES.replace("/one   v1", "/one   first")
    assert farm.plain() == before[before.index("global\n") :].replace("backend v1", "backend first")


def test_a_backend_and_an_acl_of_lines(farm: Renamed) -> None:
    before = farm.plain()
    assert farm.sidecar.reloaded(farm.rename("backend/v2", "second"))["status"] == "succeeded"
    assert farm.sidecar.reloaded(farm.rename("frontend/site/acl/known", "wanted"))["status"] == "succeeded"
    after = before.replace('"v2" if known { nbsrv(v2)', '"second" if wanted { nbsrv(second)').replace("backend v2", "backend second")
    assert farm.plain() == after.replace("acl known", "acl wanted") and farm.asked("/known") == "v2"


def test_what_is_kept_beside_the_configuration_goes_with_it(farm: Renamed) -> None:
    sidecar = farm.sidecar
    declared = {"backends": [{"name": "v1", "from": "plain", "servers": {"s": sidecar.get("backends/v1/servers/s").json()}}]}
    assert sidecar.put("/v3/sidecar/apply", declared, owner="team", force=True).is_success
    assert sidecar.put(f"{SERVICES}/runtime/backends/v1/servers/s", {"weight": 7}).status_code == 200
    carried = ["owner/team", "override of weight of backend/v1/server/s"]
    assert farm.rename("backend/v1", "first", dry_run=True).json()["carried"] == carried
    refused = farm.rename("backend/v1", "first", transaction_id=sidecar.transaction())
    assert refused.status_code == 400 and "owner/team" in refused.json()["message"], refused.text
    owned = sidecar.get(OWNERS).json()
    assert farm.rename("backend/v1", "first", version=99).status_code == 409 and sidecar.get(OWNERS).json() == owned
    assert [each["object"] for each in sidecar.get(OVERRIDES).json()] == ["backend/v1/server/s"]
    answer = farm.rename("backend/v1", "first")
    assert answer.json()["carried"] == carried, answer.text
    if answer.status_code == 202:
        assert sidecar.reloaded(answer)["status"] == "succeeded"
    until(lambda: (found := sidecar.server("s", "first")) is not None and found.uweight == 7)
    assert [each["object"] for each in sidecar.get(OVERRIDES).json()] == ["backend/first/server/s"]
    assert sidecar.get(OWNERS).json() != owned
    exported = sidecar.get("/v3/sidecar/export", owner="team").json()
    assert [each["name"] for each in exported["backends"]] == ["first"], exported
    # The owner still declares v1, which is created, and no longer v2, which is deleted.
    planned = sidecar.put("/v3/sidecar/apply", declared, owner="team", dry_run=True).json()
    assert "backend/v1" in planned["created"] and "backend/first" in planned["deleted"], planned


def test_a_map_that_lines_name(farm: Renamed) -> None:
    before = farm.plain()
    found = farm.sidecar.get(REFERENCES, object="map/paths.map").json()["references"]
    assert rows(found) == [("frontend/site", "file")]
    assert farm.sidecar.reloaded(farm.rename("map/paths.map", "ways.map"))["status"] == "succeeded"
    assert farm.plain() == before.replace("paths.map", "ways.map") and farm.map("ways.map") == ENTRIES
    assert not (farm.maps / "paths.map").exists() and farm.asked("/one") == "v1"


def test_a_transaction_holds_lines_and_no_files(farm: Renamed) -> None:
    before, id_ = farm.plain(), farm.sidecar.transaction()
    refused = farm.rename("backend/v1", "first", transaction_id=id_)
    assert refused.status_code == 400 and "the renaming also changes paths.map" in refused.json()["message"]
    answer = farm.rename("backend/v2", "second", transaction_id=id_)
    assert answer.status_code == 202 and farm.plain() == before, answer.text
    assert farm.sidecar.get(REFERENCES, object="backend/second", transaction_id=id_).status_code == 200
    assert farm.sidecar.get(REFERENCES, object="backend/second").status_code == 404


def test_what_cannot_be(farm: Renamed) -> None:
    before = farm.plain()
    for object_, to, status, words in (
        ("backend/v1", "v2", 409, "backend/v2 already exists"),
        ("backend/v9", "x", 404, "nearest"),
        ("backend/v1", "a b", 400, "not a name that HAProxy accepts"),
        ("map/path.map", "x.map", 404, "nearest is map/paths.map"),
        ("map/paths.map", "../x", 400, "is not a valid name for a stored file"),
        ("http_request_rule/1", "x", 400, "has no references"),
    ):
        answer = farm.rename(object_, to)
        assert answer.status_code == status and words in answer.json()["message"], answer.text
    stale = farm.rename("backend/v2", "second", version=farm.sidecar.version() + 1)
    assert stale.status_code == 409 and farm.plain() == before


def test_what_is_used_is_not_deleted_and_all_places_are_named(farm: Renamed) -> None:
    refused = farm.sidecar.delete("backends/v3", version=farm.sidecar.version())
    message = refused.json()["message"]
    assert refused.status_code == 400 and "references to backend/v3:\nline " in message, message
    assert "default_backend v3" in message and "paths.map,v3)]" in message and "three\tv3" in message
    refused = farm.sidecar.delete("defaults/plain", version=farm.sidecar.version())
    message = refused.json()["message"]
    assert refused.status_code == 400 and all(f": {each} from plain" in message for each in ("frontend site", "backend v1", "backend v3"))
    rule = {"type": "set-map", "map_file": str(farm.maps / "paths.map"), "map_keyfmt": "x", "map_valuefmt": "v1"}
    added = farm.sidecar.post("backends/v1/http_request_rules/0", rule, version=farm.sidecar.version())
    assert added.status_code == 202, added.text
    used = farm.sidecar.delete(f"{MAPS}/paths.map")
    assert used.status_code == 409 and used.json()["message"].count("at line") == 2, used.text
