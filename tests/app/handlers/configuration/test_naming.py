"""A refused DELETE names all places."""

from pathlib import Path

from tests.acceptance.quick import PLAIN, Quick
from tests.haproxy.process import HAProxy, free_port

LINES = """\
frontend site from plain
    bind 127.0.0.1:{port}
    acl own path /x
    http-request deny if own
    use_backend app if {{ path / }} !own
    default_backend app

backend app from plain
    server s 127.0.0.1:9
"""


def test_a_refused_delete_names_the_places(tmp_path: Path) -> None:
    with HAProxy(tmp_path, (PLAIN + LINES).format(port=free_port())) as haproxy, Quick(haproxy) as sidecar:
        refused = sidecar.delete("backends/app", version=1)
        first, *others = refused.json()["message"].splitlines()
        places = others[others.index("references to backend/app:") + 1 :]
        assert refused.status_code == 400 and "unable to find required" in first and refused.json()["alerts"]
        assert [each.partition(": ")[2] for each in places] == ["use_backend app if { path / } !own", "default_backend app"]
        message = sidecar.delete("frontends/site/acls/0", version=1).json()["message"]
        places = message.partition("references to frontend/site/acl/own:\n")[2].splitlines()
        assert [each.partition(": ")[2] for each in places] == ["http-request deny if own", "use_backend app if { path / } !own"]
