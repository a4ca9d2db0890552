"""Kill the server at random moments of changes of text and map together, which must pass routing tests.

After the restart both must be old, or both must be new. A change that fails a routing test must never be in effect.
"""

import random
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.acceptance.killer import Killer, wait_for_what_is_owed
from tests.acceptance.quick import PLAIN, SERVICES, Quick
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port

CONFIG = (
    PLAIN
    + """\
frontend web from plain
    bind 127.0.0.1:{port}
    http-request deny if {{ path /denied0 }}
    use_backend %[path,map({directory}/maps_dir/paths.map,app)]

backend app from plain
    server one 127.0.0.1:1

backend other from plain
    server one 127.0.0.1:1
"""
)
CASES = [
    {"request": {"url": "http://a/always", "frontend": "web"}, "expect": {"backend": "app"}},
    {"request": {"url": "http://a/", "frontend": "web"}, "expect": {"backend": "app"}},
]
RULE, MAP = "frontends/web/http_request_rules/0", f"{SERVICES}/storage/maps/paths.map"


@pytest.fixture
def sidecar(tmp_path: Path) -> Iterator[Quick]:
    (tmp_path / "maps_dir").mkdir()
    (tmp_path / "maps_dir/paths.map").write_text("/key0 other\n")
    config = CONFIG.format(port=free_port(), directory=tmp_path)
    with HAProxy(tmp_path, config, binary=binaries.exactly("3.2")) as haproxy, Quick(haproxy, dataplaneapi={"tests": "require"}) as running:
        yield running


def seen(sidecar: Quick) -> tuple[str, str]:
    """Return the denied path in the text, and the key of the map."""
    rule = sidecar.line("http-request deny").split()
    return rule[-2], (sidecar.directory / "maps_dir/paths.map").read_text().split()[0]


def changed(sidecar: Quick, denied: str, key: str) -> httpx2.Response:
    id_ = sidecar.transaction()
    rule = {"type": "deny", "cond": "if", "cond_test": f"{{ path {denied} }}"}
    for answer in (sidecar.put(RULE, rule, transaction_id=id_), sidecar.put(MAP, f"{key} other\n", transaction_id=id_)):
        assert answer.is_success, answer.text
    return sidecar.commit(id_)


@pytest.mark.parametrize(
    ("changes", "kills", "seed"), [(5, 2, 2026), *(pytest.param(150, 100, seed, marks=pytest.mark.soak) for seed in range(2))]
)
def test_a_tested_change_is_made_or_not(sidecar: Quick, changes: int, kills: int, seed: int) -> None:
    assert sidecar.put("/v3/sidecar/tests/site", {"cases": CASES}).is_success
    chance = random.Random(seed)
    killer = Killer(sidecar, chance, [sidecar.haproxy.file, sidecar.directory / "maps_dir/paths.map"])
    fatal, stands, found = set(chance.sample(range(1, changes), kills)), seen(sidecar), set[bool]()
    for number in range(1, changes):
        is_wrong = chance.random() < 0.3
        asked = ("/always" if is_wrong else f"/denied{number}", f"/key{number}")
        if number not in fatal:
            with killer.timed():
                answer = changed(sidecar, *asked)
            assert answer.status_code == 400 if is_wrong else answer.is_success, answer.text
            stands = stands if is_wrong else asked
        else:
            killer.kill_during(lambda asked=asked: changed(sidecar, *asked))
            sidecar.start()
            wait_for_what_is_owed(sidecar)
            there = seen(sidecar)
            assert there == stands or (there == asked and not is_wrong), (there, stands, asked)
            if not is_wrong:
                found.add(there == asked)
            stands = there
        assert [path.name for path in (sidecar.directory / "maps_dir").iterdir()] == ["paths.map"]
        assert seen(sidecar) == stands
    if kills >= 100:
        assert found == {False, True}, "some kills came too early, some too late"
