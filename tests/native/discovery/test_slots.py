"""Slots: how many there are, who gets which, and that nobody is moved without need."""

import random

import pytest

from haproxy_native.discovery.backends import Growth, ServiceEndpoint, assign_endpoints, endpoint, is_free

DOUBLING, LINEAR = Growth(10, None), Growth(10, 20)


def at(*numbers: int) -> list[ServiceEndpoint]:
    return [ServiceEndpoint(f"10.0.0.{number}", 80) for number in numbers]


def served(slots: list[dict]) -> list[str]:
    return [slot["address"].rpartition(".")[2] if not is_free(slot) else "-" for slot in slots]


@pytest.mark.parametrize(
    ("growth", "wanted", "there", "size"),
    [
        (DOUBLING, 0, 0, 10),
        (DOUBLING, 10, 10, 10),
        (DOUBLING, 11, 10, 20),
        (DOUBLING, 45, 10, 80),
        (DOUBLING, 11, 40, 20),
        (DOUBLING, 9, 40, 10),
        (DOUBLING, 20, 40, 40),
        (DOUBLING, 3, 4, 10),
        (LINEAR, 9, 10, 10),
        (LINEAR, 10, 10, 20),
        (LINEAR, 20, 20, 40),
        (LINEAR, 21, 20, 40),
        (LINEAR, 21, 60, 40),
        (LINEAR, 41, 60, 60),
        (LINEAR, 5, 60, 10),
    ],
)
def test_number_of_slots(growth: Growth, wanted: int, there: int, size: int) -> None:
    assert growth.slots(wanted, there) == size


def test_growth_of_a_definition() -> None:
    members = {"server_slots_base": 12, "server_slots_growth_increment": 15}
    assert Growth.from_definition({**members, "server_slots_growth_type": "linear"}) == Growth(12, 15)
    assert Growth.from_definition({**members, "server_slots_growth_type": "exponential"}) == Growth(12, None)


def test_new_slots_wait_in_maintenance_and_are_checked() -> None:
    slots = assign_endpoints([], at(1), DOUBLING)
    assert len({slot["name"] for slot in slots}) == 10
    assert {len(slot["name"]) for slot in slots} == {9}
    assert {**slots[0], "name": ""} == {"name": "", "check": "enabled", "weight": 128, "address": "10.0.0.1", "port": 80}
    free = {"name": "", "check": "enabled", "weight": 128, "address": "127.0.0.1", "port": 80, "maintenance": "enabled"}
    assert {**slots[1], "name": ""} == free


def test_who_serves_stays_and_who_comes_takes_the_place_of_who_goes() -> None:
    slots = assign_endpoints([], at(1, 2, 3), DOUBLING)
    assert served(slots)[:4] == ["1", "2", "3", "-"]
    assert served(assign_endpoints(slots, at(3, 1), DOUBLING))[:4] == ["1", "-", "3", "-"]
    assert served(assign_endpoints(slots, at(3, 4, 1, 5), DOUBLING))[:5] == ["1", "4", "3", "5", "-"]
    assert served(assign_endpoints(slots, at(9), DOUBLING))[:4] == ["9", "-", "-", "-"]


def test_a_backend_that_shrinks_loses_free_slots_only() -> None:
    slots = assign_endpoints([], at(*range(1, 12)), DOUBLING)
    assert len(slots) == 20
    fewer = assign_endpoints(slots, at(2, 11), DOUBLING)
    assert len(fewer) == 10
    assert [number for number in served(fewer) if number != "-"] == ["2", "11"]


def test_what_operators_wrote_stays() -> None:
    drained = {"name": "a", "address": "10.0.0.1", "port": 80, "maintenance": "enabled"}
    special = {"name": "b", "address": "10.0.0.2", "port": 80, "maxconn": 7, "weight": 5}
    slots = assign_endpoints([drained, special], at(1, 3), DOUBLING)
    assert slots[0] == drained
    assert slots[1] == {**special, "address": "10.0.0.3", "check": "enabled"}


def test_without_a_port() -> None:
    slots = assign_endpoints(assign_endpoints([], at(1), DOUBLING), [ServiceEndpoint("10.0.0.2", None)], DOUBLING)
    assert "port" not in slots[0]
    assert endpoint(slots[0]) == ServiceEndpoint("10.0.0.2", None)


def test_any_sequence_of_answers() -> None:
    """What is wanted is served, once; who is wanted before and after is not touched; asking again changes nothing."""
    dice, slots = random.Random(8), []
    for _ in range(300):
        growth = dice.choice((DOUBLING, LINEAR, Growth(25, 10)))
        wanted = at(*dice.sample(range(1, 90), dice.choice((0, 1, 5, 12, 30, 60))))
        before = {slot["name"]: endpoint(slot) for slot in slots}
        slots = assign_endpoints(slots, wanted, growth)
        assert sorted(endpoint(slot) for slot in slots if not is_free(slot)) == sorted(wanted)
        assert len(slots) >= max(growth.base, len(wanted))
        stayed = {name: old for name, old in before.items() if old in wanted}
        assert {slot["name"]: endpoint(slot) for slot in slots if slot["name"] in stayed} == stayed
        assert assign_endpoints(slots, wanted, growth) == slots
