"""One source asked again and again."""

import asyncio
import logging
from collections.abc import Callable

import pytest

from haproxy_native.discovery import poller as polling
from haproxy_native.discovery.backends import ServiceEndpoint
from haproxy_native.discovery.poller import Poller, ServiceCatalog, SourceFailed, moment
from haproxy_native.errors import Forbidden, Refused
from haproxy_native.request_context import Author

WEB = ServiceCatalog({"web": (ServiceEndpoint("10.0.0.1", 80),)}, {"api": "500"})
# What a catalog was applied with: what failed, and the id of a reload.
Applied = tuple[list[str], str | None]


class Script:
    """A source that goes through answers; the last one lasts."""

    prefix = ""

    def __init__(self, *answers: ServiceCatalog | Exception) -> None:
        self.answers, self.closed, self.changes = list(answers), False, False

    async def poll(self) -> ServiceCatalog:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def wait_for_change(self, seconds: float) -> None:
        await asyncio.sleep(0 if self.changes else seconds)

    async def close(self) -> None:
        self.closed = True


def poller(*answers: ServiceCatalog | Exception, applied: Applied | Exception = ([], None), interval: float = 0.01) -> Poller:
    async def apply(source: Script, found: ServiceCatalog, standing: Author) -> Applied:
        if isinstance(applied, Exception):
            raise applied
        return applied

    return Poller("consul here", interval, Script(*answers), apply)


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not true():
            await asyncio.sleep(0.005)


def test_nothing_is_told_before_the_first_look() -> None:
    assert poller(WEB).status == {}


@pytest.mark.parametrize("trouble", [SourceFailed("500 no leader"), Refused("bad"), OSError("disk full"), KeyError("x")])
def test_it_goes_on_after_any_trouble(trouble: Exception) -> None:
    async def work() -> None:
        each = poller(trouble, WEB)
        each.start()
        await until(lambda: each.status.get("state") == "working")
        await each.stop()
        assert str(trouble) in each.status["last_error"]
        assert each.source.closed

    asyncio.run(work())


def test_status_of_success() -> None:
    async def work() -> dict:
        each = poller(WEB, applied=([], "2026-01-01-1"))
        await each.poll()
        return each.status

    status = asyncio.run(work())
    assert {name: status[name] for name in ("state", "services", "servers", "reload_id")} == {
        "state": "working",
        "services": 2,
        "servers": 1,
        "reload_id": "2026-01-01-1",
    }
    assert set(status) == {"state", "services", "servers", "reload_id", "last_success", "next_try"}


@pytest.mark.parametrize("applied", [(["api: 500"], None), Refused("api: 500")])
def test_status_of_failure(applied: Applied | Exception) -> None:
    each = poller(WEB, applied=applied)
    asyncio.run(each.poll())
    assert each.status["state"] == "failing"
    assert each.status["last_error"].endswith("api: 500")
    assert ("last_success" in each.status) == isinstance(applied, tuple)


def test_a_lasting_failure_is_warned_of_once_and_its_end_is_told(caplog: pytest.LogCaptureFixture) -> None:
    each = poller(SourceFailed("away"), SourceFailed("away"), SourceFailed("elsewhere"), WEB)

    async def work() -> None:
        for _ in range(4):
            await each.poll()

    with caplog.at_level(logging.INFO):
        asyncio.run(work())
    logged = [(record.levelname, record.getMessage()) for record in caplog.records if record.name == "haproxy_native.discovery.poller"]
    assert logged == [
        ("WARNING", "consul here: away; next attempt in 0.01 s"),
        ("WARNING", "consul here: elsewhere; next attempt in 0.04 s"),
        ("INFO", "consul here answers again"),
    ]


def test_what_may_have_changed_is_looked_at_before_the_interval_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polling, "SHORTEST", 0.0)

    async def work() -> None:
        each = poller(SourceFailed("away"), WEB, interval=1000)
        each.source.changes = True
        for state in ("failing", "working"):
            await each.round()
            assert each.status["state"] == state

    asyncio.run(work())


def test_times_are_told_as_the_api_does() -> None:
    assert moment(1700000000.1239) == "2023-11-14T22:13:20.123Z"


def test_it_stops_without_its_creator_and_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    gone, seen = Forbidden("ann, who began this, is gone"), list[Author]()
    standing: list[Author | Forbidden] = [Author("ann"), gone, gone, Author("ann")]

    def who() -> Author:
        now = standing.pop(0)
        if isinstance(now, Forbidden):
            raise now
        return now

    async def apply(source: Script, found: ServiceCatalog, standing: Author) -> Applied:
        seen.append(standing)
        return [], None

    async def work() -> list[str]:
        each = Poller("consul here", 1, Script(WEB), apply, who)
        return [(await each.poll(), each.status["state"])[1] for _ in range(4)]

    with caplog.at_level(logging.INFO):
        assert asyncio.run(work()) == ["working", "stopped", "stopped", "working"]
    assert seen == [Author("ann")] * 2
    assert [record.message for record in caplog.records] == [f"consul here has stopped: {gone}", "consul here polls again"]
