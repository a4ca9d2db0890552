"""Name the intended call in the answer to a wrong one."""

import pytest

from dataplaneapi.did_you_mean import Guide, nearest, object_places
from haproxy_native.grammar.load import bundle

CONFIGURATION = "/services/haproxy/configuration"
PATHS = [
    "/",
    "/info",
    "/health",
    "/services",
    "/services/haproxy",
    "/services/haproxy/runtime/maps/{name}",
    "/services/haproxy/runtime/stick_tables/{name}",
    "/sidecar/overrides/backend/{parent_name}/server/{name}",
    CONFIGURATION,
    f"{CONFIGURATION}/backends",
    f"{CONFIGURATION}/backends/{{name}}",
    f"{CONFIGURATION}/backends/{{parent_name}}/servers",
    f"{CONFIGURATION}/backends/{{parent_name}}/servers/{{name}}",
    f"{CONFIGURATION}/frontends/{{parent_name}}/acls",
    f"{CONFIGURATION}/frontends/{{parent_name}}/acls/{{index}}",
    f"{CONFIGURATION}/backends/{{parent_name}}/acls/{{index}}",
    f"{CONFIGURATION}/healthchecks",
    f"{CONFIGURATION}/nameservers/{{name}}",
    f"{CONFIGURATION}/mailers_section/{{name}}",
    f"{CONFIGURATION}/backends/{{parent_name}}/filters/{{index}}",
    f"{CONFIGURATION}/peers/{{parent_name}}/servers/{{name}}",
    f"{CONFIGURATION}/peers/{{parent_name}}/servers",
]
GUIDE = Guide(PATHS)


@pytest.mark.parametrize(
    ("path", "query", "meant"),
    [
        (f"/v3{CONFIGURATION}/servers", {"backend": "x"}, [f"/v3{CONFIGURATION}/backends/x/servers"]),
        (f"/v3{CONFIGURATION}/servers/s1", {"backend": "x"}, [f"/v3{CONFIGURATION}/backends/x/servers/s1"]),
        (
            f"/v2{CONFIGURATION}/servers/s1",
            {"parent_type": "backend", "parent_name": "a b"},
            [f"/v3{CONFIGURATION}/backends/a%20b/servers/s1"],
        ),
        (
            f"/v3{CONFIGURATION}/servers",
            {},
            [f"/v3{CONFIGURATION}/backends/{{parent_name}}/servers", f"/v3{CONFIGURATION}/peers/{{parent_name}}/servers"],
        ),
        (f"/v3{CONFIGURATION}/acls/0", {"frontend": "f"}, [f"/v3{CONFIGURATION}/frontends/f/acls/0"]),
        (f"/v2{CONFIGURATION}/backends/web", {}, [f"/v3{CONFIGURATION}/backends/web"]),
        (f"/v3{CONFIGURATION}/backend/web/server/s1", {}, [f"/v3{CONFIGURATION}/backends/web/servers/s1"]),
        (f"/v3{CONFIGURATION}/backends/web/server/s1", {}, [f"/v3{CONFIGURATION}/backends/web/servers/s1"]),
        ("/v3/sidecar/overrides/backend/web/servers/s1", {}, ["/v3/sidecar/overrides/backend/web/server/s1"]),
        ("/v3/services/haproxy/runtime/stick_tables/p/t", {}, ["/v3/services/haproxy/runtime/stick_tables/p%2Ft"]),
        (
            f"/v3{CONFIGURATION}/server/s1",
            {},
            [f"/v3{CONFIGURATION}/backends/{{parent_name}}/servers/s1", f"/v3{CONFIGURATION}/peers/{{parent_name}}/servers/s1"],
        ),
        (f"/v3{CONFIGURATION}/mailers/m", {}, [f"/v3{CONFIGURATION}/mailers_section/m"]),
        (f"/v3{CONFIGURATION}/resolvers/r/nameservers/a", {}, [f"/v3{CONFIGURATION}/nameservers/a"]),
        (f"/v3{CONFIGURATION}/backends/a/b", {}, [f"/v3{CONFIGURATION}/backends/a"]),
        (f"/v3{CONFIGURATION}/health_check", {}, [f"/v3{CONFIGURATION}/healthchecks"]),
        ("/v3/health_check", {}, [f"/v3{CONFIGURATION}/healthchecks"]),
        ("/v3/services//haproxy", {}, ["/v3/services/haproxy"]),
        ("/info", {}, ["/v3/info"]),
        ("/v1/info", {}, ["/v3/info"]),
        ("/v3/services/haproxy/health", {}, ["/v3/health"]),
        ("/elsewhere", {}, []),
        ("/", {}, []),
        ("/v3/" + "x" * 10_000, {}, []),
    ],
)
def test_paths(path: str, query: dict[str, str], meant: list[str]) -> None:
    assert GUIDE.similar_paths(path, query) == meant


def test_the_question() -> None:
    assert GUIDE("/info", b"") == "did you mean /v3/info?"
    assert GUIDE("/elsewhere", b"a=%FF") == ""


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("adress", ["address", "port"], "address"),
        ("health_check", ["check", "address"], "check"),
        ("x", ["y"], None),
        ("Version", ["version"], "version"),
        ("y" * 1000, ["yyyy"], None),
    ],
)
def test_nearest(word: str, known: list[str], meant: str | None) -> None:
    assert nearest(word, known) == meant


@pytest.mark.parametrize(
    ("path", "advice"),
    [
        ("references/backend/x", "did you mean /v3/sidecar/references?object=backend/x?"),
        ("references/backend/a b/server/s", "did you mean /v3/sidecar/references?object=backend/a%20b/server/s?"),
        ("references/object/backend/x/", "did you mean /v3/sidecar/references?object=backend/x?"),
        ("blame/backend/x", "did you mean /v3/sidecar/blame?object=backend/x?"),
        ("history/backend/x", "did you mean /v3/sidecar/history?object=backend/x?"),
        ("events/backend/x", "did you mean /v3/sidecar/events?object=backend/x?"),
        ("rename/backend/x", "did you mean /v3/sidecar/rename, with object 'backend/x' in the body?"),
        ("overrides/backend/web/servers/s1", "did you mean /v3/sidecar/overrides/backend/web/server/s1?"),
        ("history/42/none", "did you mean /v3/sidecar/history/42?"),
    ],
)
def test_an_object_in_a_path_that_takes_it_elsewhere(path: str, advice: str) -> None:
    document = bundle()
    assert Guide(document["paths"], object_places(document))(f"/v3/sidecar/{path}", b"") == advice
