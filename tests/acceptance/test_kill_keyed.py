"""Kill the server during calls with an `Idempotency-Key`, and send them again. No change may be made twice."""

import random
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.acceptance.killer import Killer
from tests.acceptance.quick import PLAIN, Quick
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy
from tests.haproxy.sidecar import CONFIGURATION

ACLS = "backends/app/acls"
CUT_OFF, MADE = "may or may not have been made", "of /v3/sidecar/history"


@pytest.fixture(params=["2.8", "3.4"])
def sidecar(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Quick]:
    config = PLAIN.format() + "backend app from plain\n    server one 127.0.0.1:1\n"
    with HAProxy(tmp_path, config, binary=binaries.exactly(request.param)) as haproxy, Quick(haproxy, delay=3000) as running:
        yield running


@pytest.mark.parametrize(
    ("calls", "kills", "seed"), [(8, 3, 2026), *(pytest.param(400, 200, each, marks=pytest.mark.soak) for each in range(3))]
)
def test_what_is_sent_again_after_a_kill_is_done_once(sidecar: Quick, calls: int, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    killer = Killer(sidecar, chance, [sidecar.haproxy.file])
    fatal = set(chance.sample(range(2, calls), kills))
    for number in range(calls):
        name, version = f"acl{number}", sidecar.version()
        acl = {"acl_name": name, "criterion": "src", "value": "127.0.0.1"}

        def call() -> httpx2.Response:
            url = f"{CONFIGURATION}/{ACLS}/0?version={version}"  # noqa: B023
            return sidecar.client.post(url, json=acl, headers={"Idempotency-Key": name})  # noqa: B023

        if number in fatal:
            killer.kill_during(call)
            sidecar.start()
        else:
            with killer.timed():
                assert call().is_success
        again = call()
        there = [each["acl_name"] for each in sidecar.get(ACLS).json()].count(name)
        if again.is_success:
            assert there == 1, again.text
        else:
            known = "made" if MADE in again.text else "perhaps" if CUT_OFF in again.text else ""
            assert number in fatal and (again.status_code, known, there) in ((409, "perhaps", 0), (409, "perhaps", 1), (409, "made", 1)), (
                again.text
            )
        assert call().content == again.content or not again.is_success
