import asyncio

import pytest

from haproxy_native.features.confirmations import guard as module
from haproxy_native.features.confirmations.guard import (
    BAD,
    GOOD,
    INCONCLUSIVE,
    Count,
    Guard,
    GuardWatch,
    Verdict,
    baseline,
    judge,
    read_guard,
    read_statistics,
)

HEAD = "# pxname,svname,stot,act,bck,hrsp_5xx,req_tot,\n"
BOTH = Guard(errors=2, ready=True)


def stat(requests: int, errors: int, ready: int = 2) -> str:
    rows = [f"app,BACKEND,7,{ready},1,{errors},{requests},", "tcp,BACKEND,40,1,0,,,", "app,one,7,1,0,,,"]
    return HEAD + "".join(f"{row}\n" for row in rows)


def verdict(*answers: tuple[str, str], guard: Guard = BOTH, after: tuple[str, str] = ("1@1", stat(100, 90))) -> Verdict:
    """Return the verdict after these answers. By default, 90 of 100 requests had failed when the change had taken effect."""
    start = baseline(read_statistics("1@1", stat(90, 90)), read_statistics(*after), {"app"})
    return judge(guard, start, [read_statistics(*answer) for answer in answers])


def test_what_is_read() -> None:
    found = read_statistics("1@1", stat(100, 20))
    assert found.totals({"app"}) == {"backends": Count(100, 20)} and found.totals({"tcp"}) == {"backends": Count()}
    assert found.ready == {"app": 3, "tcp": 1} and found.totals(set()) == {}


@pytest.mark.parametrize(
    ("answer", "guard", "result", "counted"),
    [
        (("1@1", stat(200, 92)), BOTH, GOOD, Count(100, 2)),
        (("1@1", stat(200, 93)), BOTH, BAD, Count(100, 3)),
        (("1@1", stat(149, 139)), BOTH, INCONCLUSIVE, Count(49, 49)),
        (("1@1", stat(149, 139)), Guard(2, min_requests=49), BAD, Count(49, 49)),
        (("1@1", stat(149, 139)), Guard(ready=True), GOOD, Count(49, 49)),
        (("1@1", stat(101, 91)), Guard(0, min_requests=1), BAD, Count(1, 1)),
        # A worker that started after the change has counted only requests since the change, as after its counters were cleared.
        (("2@9", stat(60, 3)), BOTH, BAD, Count(60, 3)),
        (("2@9", stat(200, 3)), BOTH, GOOD, Count(200, 3)),
        (("1@1", stat(60, 3)), BOTH, BAD, Count(60, 3)),
    ],
)
def test_errors(answer: tuple[str, str], guard: Guard, result: str, counted: Count) -> None:
    found = verdict(answer, guard=guard)
    assert found.result == result and found.counts == {"backends": counted}


def test_a_change_that_needed_a_reload_counts_from_the_new_worker() -> None:
    found = verdict(("2@9", stat(60, 3)), after=("2@9", stat(55, 3)))
    assert found.reasons == ["3 of 60 requests to backends were answered with 5xx: 5.0 %, and the guard permits 2 %"]


def test_ready_servers() -> None:
    fewer, all_there, gone = ("1@1", stat(200, 90, 1)), ("1@1", stat(200, 90)), ("1@1", HEAD)
    reason = "backend app has 2 ready servers; before the change it had 3"
    assert (verdict(fewer, fewer, fewer).result, verdict(fewer, fewer, fewer).reasons) == (BAD, [reason])
    assert (verdict(fewer, fewer).result, verdict(fewer, fewer).reasons) == (INCONCLUSIVE, [reason])
    assert verdict(fewer, all_there, fewer).result == INCONCLUSIVE and verdict(fewer, fewer, all_there).result == GOOD
    assert verdict(fewer, fewer, fewer, guard=Guard(errors=2)).result == GOOD
    assert verdict(gone, gone, gone, guard=Guard(ready=True)).result == GOOD


def test_reasons_of_an_inconclusive_verdict() -> None:
    assert verdict(("1@1", stat(110, 90))).reasons == ["10 requests since the change; the guard needs 50"]


@pytest.mark.parametrize(
    ("text", "guard"),
    [
        ('{"errors": 1.5}', Guard(1.5)),
        ('{"ready": true, "min_requests": 5}', Guard(None, True, 5)),
        ('{"errors": 0, "ready": false}', Guard(0)),
    ],
)
def test_a_guard(text: str, guard: Guard) -> None:
    assert read_guard(text) == guard


def test_a_watch_asks_once_a_second_and_starts_again_with_each_change(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    async def ask() -> tuple[str, str]:
        asked.append(1)
        return "1@1", stat(200, 90, 1)

    async def work() -> None:
        watch = GuardWatch(ask)
        start = baseline(read_statistics("1@1", stat(90, 90)), None, {"app"})
        first = await watch.verdict("1", BOTH, start)
        assert first and first.result == INCONCLUSIVE and await watch.verdict("1", BOTH, start) is None and len(asked) == 1
        monkeypatch.setattr(module, "READ_SECONDS", 0)
        found = [await watch.verdict(id_, BOTH, start) for id_ in ("2", "2", "2", "3")]
        assert [each and each.result for each in found] == [INCONCLUSIVE, INCONCLUSIVE, BAD, INCONCLUSIVE]
        unknown = await watch.verdict("4", BOTH, None)
        assert unknown and unknown.result == INCONCLUSIVE and "restarted" in unknown.reasons[0]

    asyncio.run(work())
