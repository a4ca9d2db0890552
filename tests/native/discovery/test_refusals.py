"""What is refused, by a clock that stands where it is put."""

from dataclasses import replace

from haproxy_native.discovery.backends import DesiredBackend, Growth, ServiceEndpoint
from haproxy_native.discovery.reconciler import Refusals

ONE, TWO = ServiceEndpoint("one", 1), ServiceEndpoint("two", 2)
WISH = DesiredBackend("b", (ONE, TWO), Growth(10, None))


def test_it_is_held_longer_and_longer_while_the_same_is_wished() -> None:
    now = [0.0]
    refusals = Refusals(lambda: now[0])
    assert refusals.reason_to_wait(WISH) == ""
    for until in (10.0, 30.0, 70.0):
        refusals.note(WISH, "no such host", 10)
        now[0] = until - 0.1
        assert refusals.reason_to_wait(replace(WISH, endpoints=(TWO, ONE))) == "no such host"
        for other in (replace(WISH, name="c"), replace(WISH, endpoints=(ONE,)), replace(WISH, endpoints=None), replace(WISH, defaults="d")):
            assert refusals.reason_to_wait(other) == ""
        now[0] = until
        assert refusals.reason_to_wait(WISH) == ""
    refusals.forget(WISH)
    refusals.note(WISH, "again", 10)
    assert refusals.reason_to_wait(WISH) == "again"
    now[0] += 10
    assert refusals.reason_to_wait(WISH) == "", "it begins anew"
