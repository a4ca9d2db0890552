import asyncio
from collections.abc import Mapping

from haproxy_native.confirmations.guard import Count
from haproxy_native.confirmations.traffic import BACKENDS, FRONTENDS, Look, Traffic, between

HEAD = "# pxname,svname,stot,econ,eresp,act,bck,hrsp_5xx,req_tot,\n"


def stat(requests: int, failed: int, ready: int = 2) -> str:
    rows = [f"app,BACKEND,7,1,2,{ready},1,{failed},{requests},", f"app,FRONTEND,9,,,,,{failed},{requests},", "tcp,BACKEND,40,3,4,1,0,,,"]
    return HEAD + "".join(f"{row}\n" for row in [*rows, "app,one,7,,,1,0,,,"])


def looks(*answers: Mapping[str, str]) -> list[Look]:
    async def work() -> list[Look]:
        left = list(answers)

        async def ask() -> Mapping[str, str]:
            return left.pop(0)

        traffic = Traffic(ask)
        return [await traffic.look() for _ in answers]

    return asyncio.run(work())


def test_what_is_counted() -> None:
    (look,) = looks({"1@1": stat(100, 20)})
    assert look.of(["app"]) == {BACKENDS: Count(100, 20), FRONTENDS: Count(100, 20)}
    assert look.of(["tcp"]) == {BACKENDS: Count(40, 7)} and look.ready == {"app": 3, "tcp": 1} and look.of([]) == {}


def test_over_reloads() -> None:
    """A new worker begins at nothing, a former one serves on and ends."""
    first, second, third, cleared = looks(
        {"1@1": stat(100, 20)}, {"2@9": stat(10, 5, 0), "1@1": stat(110, 20)}, {"2@9": stat(30, 5)}, {"2@9": stat(4, 4)}
    )
    assert between(first, second, ["app"])[BACKENDS] == Count(20, 5) and second.ready["app"] == 1
    assert between(second, third, ["app"])[BACKENDS] == Count(20, 0)
    assert between(third, cleared, ["app"])[BACKENDS] == Count(4, 4)
    assert cleared.of(["app"])[BACKENDS] == Count(144, 29)


def test_a_worker_that_is_not_heard_for_a_while_is_counted_once() -> None:
    *_, silent, heard = looks(
        {"1@1": stat(100, 20)}, {"2@2": stat(5, 0), "1@1": stat(110, 20)}, {"2@2": stat(6, 0)}, {"2@2": stat(7, 0), "1@1": stat(112, 21)}
    )
    assert silent.of(["app"])[BACKENDS] == Count(116, 23) and heard.of(["app"])[BACKENDS] == Count(119, 24)


def test_of_many_workers_the_last_are_remembered() -> None:
    found = looks(*({f"{number}@{number}": stat(10, 3)} for number in range(1, 50)))
    assert found[-1].of(["app"])[BACKENDS] == Count(490, 147)
