"""What reloads were for, as clients read it: of a new backend with lines of its own, and of a rule that a map would make live."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.quick import Quick, is_live
from tests.conftest import CONFIG
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port


@pytest.fixture
def sidecar(tmp_path: Path) -> Iterator[Quick]:
    config = CONFIG.format(site=free_port(), one=free_port(), two=free_port())
    with HAProxy(tmp_path, config, binary=binaries.exactly("3.4")) as haproxy, Quick(haproxy) as started:
        yield started


def advice(sidecar: Quick) -> dict[str, object]:
    answer = sidecar.get("/v3/sidecar/reload_advice")
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_each_cause_with_the_edit_that_ends_it(sidecar: Quick) -> None:
    assert advice(sidecar) == {"reloads": 0, "advice": []}
    for name in ("b1", "b2"):
        body = {"name": name, "from": "http", "balance": {"algorithm": "leastconn"}}
        sidecar.reloaded(sidecar.post("backends", body, version=sidecar.version()))
    rule = {"name": "b1", "cond": "if", "cond_test": "TRUE"}
    last = sidecar.post("frontends/site/backend_switching_rules/0", rule, version=sidecar.version())
    sidecar.reloaded(last)
    shown = advice(sidecar)
    assert shown["reloads"] == 3
    own, switching = shown["advice"]  # type: ignore[misc]
    assert (own["share"], own["reloads"], own["reason"]["keyword"]) == (67, 2, "balance")
    assert own["remedy"] == "put balance into a named defaults section, and name that section after `from` in such backends"
    assert (switching["share"], switching["last"]) == (33, last.headers["Reload-Id"])
    assert "by a map" in switching["remedy"]


def test_the_advice_ends_them(sidecar: Quick) -> None:
    body = {"name": "lean", "from": "http", "balance": {"algorithm": "leastconn"}}
    sidecar.reloaded(sidecar.post("defaults", body, version=sidecar.version()))
    assert is_live(sidecar.post("backends", {"name": "b3", "from": "lean"}, version=sidecar.version()))
