"""The header of a raw push, on a real HAProxy."""

import asyncio

import pytest

from haproxy_native.errors import RuntimeFailure
from haproxy_native.runtime import commands
from haproxy_native.runtime.client import Runtime
from tests.haproxy.process import HAProxy


def run(haproxy: HAProxy, header: str) -> None:
    async def work() -> None:
        runtime = Runtime(timeout=60)
        assert await runtime.connect(str(haproxy.master), [], 60, 0.02)
        await commands.run_actions(runtime, header)

    asyncio.run(work())


def row(haproxy: HAProxy, server: str) -> list[str]:
    lines = (line.split() for line in haproxy.ask("show servers state app").splitlines())
    return next(words for words in lines if len(words) > 3 and words[3] == server)


def test_each_action(haproxy: HAProxy) -> None:
    run(
        haproxy,
        "SetServerWeight app plain 77;SetServerAddr app plain 127.0.0.9 99;SetServerState app plain maint;SetFrontendMaxConn web 55;"
        "SetServerCheckPort app checked 88;SetServerAgentAddr app agent 127.0.0.5;"
        "SetServerAgentSend app agent word;DisableAgentCheck app agent",
    )
    plain, checked, agent = row(haproxy, "plain"), row(haproxy, "checked"), row(haproxy, "agent")
    assert (plain[7], plain[4], plain[18], plain[6]) == ("77", "127.0.0.9", "99", "1")
    assert checked[21] == "88" and agent[14] == "18" and agent[23] == "127.0.0.5"
    run(haproxy, "EnableAgentCheck app agent")
    assert row(haproxy, "agent")[14] == "22"


def test_unknown_and_empty_ones_are_skipped(haproxy: HAProxy) -> None:
    run(haproxy, ";Dance app;; ;SetServerWeight app plain 5 superfluous;")
    assert row(haproxy, "plain")[7] == "5"
    run(haproxy, "")


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("SetServerWeight app", "cannot execute SetServerWeight: not enough parameters"),
        ("SetServerAddr app plain 127.0.0.1", "cannot execute SetServerAddr: not enough parameters"),
        ("SetServerWeight app ghost 5", "cannot execute SetServerWeight: {master} No such server. [set server app/ghost weight 5]"),
        ("SetServerState app plain asleep", "cannot execute SetServerState: {master} bad request"),
        ("SetServerWeight app plain many", "cannot execute SetServerWeight: {master} bad request"),
        ("SetFrontendMaxConn web x", "cannot execute SetFrontendMaxConn: {master} bad request"),
    ],
)
def test_the_first_failure_ends_the_rest(haproxy: HAProxy, header: str, message: str) -> None:
    with pytest.raises(RuntimeFailure) as caught:
        run(haproxy, f"SetServerWeight app checked 3;{header};SetServerWeight app plain 9")
    assert str(caught.value).startswith(message.replace("{master}", str(haproxy.master)))
    assert row(haproxy, "checked")[7] == "3" and row(haproxy, "plain")[7] == "10"
