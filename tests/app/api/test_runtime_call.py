"""Refusals in the words of the protocol, and a bound on what reads."""

import asyncio
from pathlib import Path

import pytest

from dataplaneapi.api.call import Call
from dataplaneapi.api.errors import status_of
from dataplaneapi.api.operations import operations, served_document
from dataplaneapi.api.runtime_call import read_long, use_runtime, with_reference_message
from dataplaneapi.auth.caller import CallAuthor
from haproxy_native.errors import RuntimeAbsent
from haproxy_native.runtime.dumps import StatisticsDump
from haproxy_native.runtime.responses import refusal_error
from tests.app.client import Client, settings
from tests.haproxy.listening import serving


@pytest.mark.parametrize(
    ("words", "classed", "status", "end"),
    [
        ("Require 'backend/server'.", True, 400, " general error"),
        ("Require 'backend/server'.", False, 400, ""),
        ("No such backend.", True, 404, " not found"),
        ("No such backend.", False, 404, ""),
        ("Proxy is disabled.", True, 409, " general error"),
        ("Already exists a server with the same name in backend.", True, 409, " already exists"),
    ],
)
def test_a_refusal_is_worded_and_classed(words: str, classed: bool, status: int, end: str) -> None:
    error = with_reference_message(refusal_error(words, "add server a/b  1.2.3.4"), "/run/h.sock", classed=classed)
    assert (str(error), status_of(error)) == (f"/run/h.sock [3]  {words} [add server a/b  1.2.3.4]{end}", status)


def made(client: Client, method: str) -> Call:
    """Returns a call of some operation with that method."""
    operation = next(each for each in operations(served_document()) if each.method == method)
    return Call(client.app.services, operation, {}, {}, CallAuthor(), None)  # type: ignore[arg-type]


def test_a_change_may_wait_for_its_turn(tmp_path: Path) -> None:
    """What a change waits for beside HAProxy, another change and the disk, is no silence of HAProxy."""

    async def wait(client: Client) -> str:
        async with use_runtime(made(client, "PUT"), seconds=0.0):
            await asyncio.sleep(0.01)
        return "changed"

    with Client(settings(tmp_path)) as client:
        assert client.runner.run(wait(client)) == "changed"


def test_a_change_that_has_no_answer_may_have_been_made(tmp_path: Path) -> None:
    async def fail(client: Client, method: str) -> None:
        async with use_runtime(made(client, method)):
            raise RuntimeAbsent("h.sock: no answer within 30 s", sent=True)

    with Client(settings(tmp_path)) as client:
        with pytest.raises(RuntimeAbsent, match=r"30 s; the change may have been made$"):
            client.runner.run(fail(client, "PUT"))
        with pytest.raises(RuntimeAbsent, match=r"30 s$"):
            client.runner.run(fail(client, "GET"))


def test_nobody_waits_for_a_silent_haproxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # What nothing refers to is collected, and its task with it.
    never: list[asyncio.Event] = []

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        never.append(event := asyncio.Event())
        try:
            await event.wait()
        finally:
            writer.close()

    async def talk(client: Client) -> None:
        async with serving(silent, client.settings.master_runtime), use_runtime(made(client, "GET"), seconds=0.1) as runtime:
            await runtime.read_dump("show info", "Name")

    async def talk_long(client: Client) -> None:
        async with (
            serving(silent, client.settings.master_runtime),
            use_runtime(made(client, "GET"), seconds=None) as runtime,
        ):
            await read_long(runtime, "show stat", "", StatisticsDump({}, lambda *_: True))

    late = r"m\.sock: no answer within 0\.1 s$"
    with Client(settings(tmp_path, master_runtime=str(tmp_path / "m.sock"))) as client, pytest.raises(RuntimeAbsent, match=late):
        client.runner.run(talk(client))
    monkeypatch.setattr("dataplaneapi.api.runtime_call.SECONDS", 0.1)
    with (
        Client(settings(tmp_path, master_runtime=str(tmp_path / "l.sock"))) as client,
        pytest.raises(RuntimeAbsent, match=r"l\.sock: no ans"),
    ):
        client.runner.run(talk_long(client))
