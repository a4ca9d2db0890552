"""Facts and counters of a real HAProxy, typed as the API says."""

import urllib.request
from pathlib import Path
from typing import Any

import jsonschema

from tests.app.client import Client, settings
from tests.app.handlers.conftest import RUNTIME, STATS, Beside
from tests.haproxy.process import SMALL, HAProxy


def test_info(beside: Beside) -> None:
    got = beside.client.get(f"{RUNTIME}/info")
    info, shown = got.json["info"], dict(line.split(": ") for line in beside.haproxy.ask("show info").splitlines() if ": " in line)
    assert (got.status, got.json["runtimeAPI"]) == (200, str(beside.haproxy.master))
    assert (info["pid"], info["node"], info["version"]) == (beside.haproxy.worker_pid(), "here", shown["Version"])
    assert info["release_date"] == shown["Release_date"].replace("/", "-")
    assert [info["max_conn"], info["nbthread"], info["processes"]] == [int(shown[name]) for name in ("Maxconn", "Nbthread", "Nbproc")]
    properties = beside.client.app.services.schemas.resolve({"$ref": "#/components/schemas/process_info_item"})["properties"]
    assert set(properties) - set(info) <= {"zlib_mem_usage", "max_zlib_mem_usage"}, "only what the build has not"
    assert [name for name, value in info.items() if isinstance(value, int) != (properties[name]["type"] == "integer")] == []


def stats(beside: Beside, query: str = "") -> list[dict[str, Any]]:
    got = beside.client.get(f"{STATS}?{query}")
    assert (got.status, got.json["runtimeAPI"]) == (200, f"{beside.haproxy.master}@1")
    rows: list[dict[str, Any]] = got.json.get("stats", [])
    return rows


def names(rows: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(row["type"], row["name"]) for row in rows]


def test_counters_of_everything(beside: Beside) -> None:
    rows = stats(beside)
    assert ("frontend", "web") in names(rows) and ("backend", "app") in names(rows) and ("server", "plain") in names(rows)
    document = beside.client.app.services.bundle
    schema = document["components"]["schemas"]["native_stat_stats"]
    types = {name: {key: each[key] for key in ("type", "enum") if key in each} for name, each in schema["properties"].items()}
    assert {row["stats"]["status"] for row in rows} >= {"OPEN", "UP", "no check"}
    for row in rows:
        jsonschema.validate(row["stats"], {"type": "object", "properties": types, "additionalProperties": False})
    plain = next(row for row in rows if row["name"] == "plain")
    assert plain["backend_name"] == "app" and plain["stats"]["addr"] == "127.0.0.1:1"
    assert (plain["stats"]["weight"], plain["stats"]["status"], plain["stats"]["lastsess"]) == (10, "no check", -1)


def test_counters_are_the_worker_s(beside: Beside) -> None:
    def seen() -> dict[str, Any]:
        counters: dict[str, Any] = stats(beside, "type=frontend&name=web")[0]["stats"]
        return counters

    before = seen()["hrsp_2xx"]
    for _ in range(3):
        with urllib.request.urlopen(f"http://127.0.0.1:{beside.port}/x", timeout=60) as answer:
            assert answer.status == 200
    assert (seen()["hrsp_2xx"], seen()["intercepted"]) == (before + 3, before + 3)


def test_filters(beside: Beside) -> None:
    rows = {
        "type=frontend": [("frontend", "web")],
        "type=backend&name=app": [("backend", "app")],
        "type=server&parent=sticky": [("server", "one")],
        "type=server&parent=app&name=off": [("server", "off")],
        "type=server&parent=ghost&name=off": [],
        "type=backend&name=ghost": [],
        "type=backend&parent=app&name=empty": [("backend", "empty")],
    }
    assert {query: names(stats(beside, query)) for query in rows} == rows
    assert {row["backend_name"] for row in stats(beside, "type=server")} == {"app", "sticky"}
    assert "stats" not in beside.client.get(f"{STATS}?type=backend&name=ghost").json
    refused = {query: beside.client.get(f"{STATS}?{query}") for query in ("name=web", "type=server&name=plain", "type=socket")}
    assert [(got.status, got.message.partition(":")[0]) for got in refused.values()] == [
        (400, "Type required when filtering by name"),
        (400, "Parent backend required when filtering by server"),
        (400, "type in query"),
    ]


def test_what_can_be_asked(beside: Beside) -> None:
    assert f"{STATS.removeprefix('/v3')}" in [each["url"] for each in beside.client.get(STATS.rpartition("/")[0]).json]
    assert f"{RUNTIME.removeprefix('/v3')}/info" in [each["url"] for each in beside.client.get(RUNTIME).json]


def test_without_haproxy(tmp_path: Path) -> None:
    master = tmp_path / "none.sock"
    with Client(settings(tmp_path, master_runtime=str(master), master_worker_mode=True)) as client:
        for path in (f"{RUNTIME}/info", STATS, f"{RUNTIME}/backends/app/servers"):
            got = client.get(path)
            assert (got.status, got.message) == (500, f"retry - unable to configure runtime client: {master}: no such file")


def test_while_haproxy_is_gone(tmp_path: Path, haproxy_binary: str) -> None:
    """Once there was one, its absence is a matter of time: 503."""
    haproxy = HAProxy(tmp_path, SMALL, binary=haproxy_binary)
    with haproxy, Client(settings(tmp_path, master_runtime=str(haproxy.master), master_worker_mode=True)) as client:
        first = client.get(f"{RUNTIME}/info").json["info"]["pid"]
        haproxy.stop()
        servers, info, counters = (client.get(path) for path in (f"{RUNTIME}/backends/app/servers", f"{RUNTIME}/info", STATS))
        assert (servers.status, str(haproxy.master) in servers.message) == (503, True), servers
        for got, status, place in ((info, 200, f"{haproxy.master}"), (counters, 500, f"{haproxy.master}@1")):
            assert (got.status, got.json) == (status, {"error": servers.message, "runtimeAPI": place})
        haproxy.start()
        assert client.get(f"{RUNTIME}/info").json["info"]["pid"] == haproxy.worker_pid() != first
