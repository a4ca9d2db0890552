import asyncio
from collections.abc import Mapping
from dataclasses import asdict

import pytest

from haproxy_native.confirmations import watch as module
from haproxy_native.confirmations.guard import BAD, INCONCLUSIVE, Guard
from haproxy_native.confirmations.ledger import PENDING, Confirmation
from haproxy_native.confirmations.traffic import Traffic
from haproxy_native.confirmations.watch import Watch, baseline
from tests.native.confirmations.test_traffic import stat

ONE = Confirmation("1", "ann", 0.0, 60.0, PENDING, guard=asdict(Guard(errors=2, min_requests=10)))


def test_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        answers = {"1@1": stat(100, 0)}

        async def ask() -> Mapping[str, str]:
            return dict(answers)

        traffic = Traffic(ask)
        watch = Watch(traffic)
        looks = await watch.before()
        known = baseline(looks, ["app"])
        assert known["counts"]["backends"] == {"requests": 100, "failures": 3} and known["ready"] == {"app": 3}
        await watch.started("1")
        assert watch.verdict(ONE, 1).reasons == ["what was before the change is not known"]
        watched = Confirmation(**(asdict(ONE) | {"baseline": known}))
        assert watch.verdict(watched, 1).result == INCONCLUSIVE
        answers["1@1"] = stat(200, 90)
        await traffic.look()
        found = watch.verdict(watched, 2)
        assert found.result == BAD and found.after["backends"].requests == 100
        assert watch.verdict(Confirmation(**(asdict(watched) | {"id": "2"})), 2).after["backends"].requests == 0
        monkeypatch.setattr(module, "STALE_SECONDS", -1)
        assert watch.verdict(watched, 2).reasons == ["HAProxy does not answer"]
        await watch.stop()

    asyncio.run(work())
