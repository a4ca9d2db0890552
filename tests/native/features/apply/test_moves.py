"""Compare the changes and values of a stored plan with the present ones, and name the first difference."""

import pytest

from haproxy_native.errors import ChangedSince
from haproxy_native.features.apply.files import FileEffect
from haproxy_native.features.apply.planner import moves_of, refuse_moved, refuse_moved_values

ONE = "backend/shop/server/one"
SERVER = {"state": "ready", "weight": 10, "address": "127.0.0.1", "port": 1}


def effect(old: object, new: object, member: str = "weight") -> FileEffect:
    return FileEffect(ONE, member, old, new)


def test_old_and_new_values_count() -> None:
    planned = moves_of([effect(10, 20), effect(None, b"\xff", "content")])
    refuse_moved(planned, moves_of([effect(None, b"\xff", "content"), effect(10, 20)]))
    for other in ([effect(11, 20)], [effect(10, 21)], []):
        with pytest.raises(ChangedSince, match=f"^weight of {ONE} has been changed since the plan was made.*; request a new plan$"):
            refuse_moved(planned, moves_of([effect(None, b"\xff", "content"), *other]))
    with pytest.raises(ChangedSince, match=f"^{ONE} has been changed"):
        refuse_moved(planned, {**planned, **moves_of([effect({}, None, "")])})


def test_values_of_the_process() -> None:
    refuse_moved_values({ONE: SERVER, "map/a.map": "1", "backend/shop/server/new": None}, {ONE: dict(SERVER), "map/a.map": "1", "x": 1})
    with pytest.raises(ChangedSince, match=f"^weight of {ONE} is 33 in the running HAProxy, and was 10 when the plan was made"):
        refuse_moved_values({ONE: SERVER}, {ONE: SERVER | {"weight": 33}})
    for planned, now in (({ONE: SERVER}, {}), ({ONE: None}, {ONE: SERVER}), ({"map/a.map": "1"}, {"map/a.map": "2"})):
        with pytest.raises(ChangedSince, match=f"^{next(iter(planned))} has been changed in the running HAProxy"):
            refuse_moved_values(planned, now)
