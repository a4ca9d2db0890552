"""How many servers stay ready over all drains, and what an operation remembers."""

import json

from haproxy_native.features.drains.drains import Drain, ServerStatistics, shortage


def row(name: str, status: str = "UP", backend: str = "shop") -> ServerStatistics:
    return ServerStatistics(backend, name, "10.0.0.1", status, 1, 0)


def drain(*names: str, keep: int = 0) -> Drain:
    return Drain([f"backend/shop/server/{name}" for name in names], keep_ready=keep)


def test_arguments_survive_the_disk() -> None:
    asked = Drain(["backend/shop/server/a"], 2, 1.5, "maint", "cut", 1)
    assert Drain.of(json.loads(json.dumps(asked.arguments)) | {"unknown": 1}) == asked
    assert asked.backends == ["shop"]


def test_each_alone_and_all_together() -> None:
    there = [row("a"), row("b"), row("c"), row("d", "DOWN"), row("e", "DRAIN"), row("x", backend="other")]
    assert shortage([drain("a", keep=2)], there) == ""
    assert "2 servers up and ready, and 3 are to stay" in shortage([drain("a", keep=3)], there)
    assert shortage([drain("a", keep=2), drain("b")], there), "the other one counts"
    assert shortage([drain("a"), drain("b", keep=2)], there), "in whatever order"
    assert shortage([drain("a", "b", "c")], there) == ""
    assert shortage([drain("d", keep=3)], there) == "", "one that is down takes nothing away"
