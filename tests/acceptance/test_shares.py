"""Let callers with some rights exhaust shared resources. A caller with all rights must still be served."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from haproxy_native.shares import MOST_WAITING
from tests.acceptance.quick import PLAIN, Quick
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import CONFIGURATION, USER

CONFIG = """\
frontend site from plain
    bind 127.0.0.1:{site}
    default_backend app

backend app from plain
    server one 127.0.0.1:1
"""
EDITORS = ("ann", "ben", "cid", "dot")
LIMIT = 100
Ask = Callable[..., Awaitable[httpx2.Response]]


@pytest.fixture
def sidecar(tmp_path: Path, haproxy_binary: str) -> Iterator[Quick]:
    users = [{"name": USER[0], "password": USER[1], "insecure": True, "role": "admin"}]
    users += [{"name": name, "password": name, "insecure": True, "role": "editor"} for name in EDITORS]
    config = (PLAIN + CONFIG).format(site=free_port())
    settings = {"user": users, "listen_limit": LIMIT}
    with HAProxy(tmp_path, config, binary=haproxy_binary) as haproxy, Quick(haproxy, dataplaneapi=settings) as running:
        yield running


@asynccontextmanager
async def caller(sidecar: Quick, name: str) -> AsyncIterator[httpx2.AsyncClient]:
    limits = httpx2.Limits(max_connections=None)
    auth = USER if name == USER[0] else (name, name)
    async with httpx2.AsyncClient(
        base_url=f"http://127.0.0.1:{sidecar.port}", auth=auth, timeout=120, verify=False, limits=limits
    ) as client:
        yield client


def test_a_push_does_not_wait_for_lua_that_loops(sidecar: Quick, tmp_path: Path) -> None:
    """Each check takes a minute, its time limit. The push is answered while all checks are still running."""
    script = tmp_path / "loop.lua"
    script.write_text("while true do end\n")
    text = sidecar.haproxy.file.read_text()
    looping = text.replace("global\n", f"global\n    lua-load {script}\n", 1)
    plain = {"content-type": "text/plain"}

    async def work() -> None:
        async with AsyncExitStack() as stack:
            editors = [await stack.enter_async_context(caller(sidecar, name)) for name in EDITORS]
            admin = await stack.enter_async_context(caller(sidecar, USER[0]))
            path = f"{CONFIGURATION}/raw"
            checks = [
                asyncio.create_task(editor.post(path, params={"only_validate": True}, content=looping, headers=plain))
                for _ in range(4)
                for editor in editors
            ]
            # The last requests of a flood are refused before any check has ended.
            checks += [
                asyncio.create_task(editors[0].post(path, params={"only_validate": True}, content=looping, headers=plain))
                for _ in range(MOST_WAITING + 2)
            ]
            done, waiting = await asyncio.wait(checks, return_when=asyncio.FIRST_COMPLETED)
            for number in range(3):
                pushed = text.replace("server one", f"server one{number}")
                answer = await admin.post(path, params={"skip_version": True}, content=pushed, headers=plain)
                assert answer.status_code in (200, 201, 202), answer.text
            done = {check for check in checks if check.done()}
            waiting = set(checks) - done
            refused = [check.result() for check in done]
            assert refused and {answer.status_code for answer in refused} == {429}
            assert all(f"{MOST_WAITING} checks of configurations of ann are waiting" in answer.text for answer in refused)
            assert {answer.headers["Retry-After"] for answer in refused} == {"1"}
            assert len(waiting) > len(EDITORS)
            for check in waiting:
                check.cancel()
            await asyncio.wait(waiting)
            # Their work ends when they disconnect, and others are served again.
            answer = await editors[0].post(path, params={"only_validate": True}, content=text, headers=plain)
            assert answer.status_code == 202, answer.text

    asyncio.run(work())


def test_streams_and_transactions_are_shared(sidecar: Quick) -> None:
    async def work() -> None:
        async with AsyncExitStack() as stack:
            editors = [await stack.enter_async_context(caller(sidecar, name)) for name in EDITORS]
            admin = await stack.enter_async_context(caller(sidecar, USER[0]))

            async def streams(client: httpx2.AsyncClient, number: int) -> list[httpx2.Response]:
                request = client.build_request("GET", "/v3/sidecar/events")
                answers = []
                for _ in range(number):
                    answers.append(await client.send(request, stream=True))
                    stack.push_async_callback(answers[-1].aclose)
                return answers

            for number, editor in enumerate(editors[:2]):
                statuses = [answer.status_code for answer in await streams(editor, LIMIT // 2 + 1)]
                room = LIMIT // 2 if number == 0 else LIMIT - LIMIT // 8 - LIMIT // 2
                assert statuses == [200] * room + [429] * (len(statuses) - room)
            refused = await editors[2].get(f"{CONFIGURATION}/version")
            assert refused.status_code == 429 and "listen_limit" in refused.json()["message"]
            assert {answer.status_code for answer in await streams(admin, 3)} == {200}
            version = (await admin.get(f"{CONFIGURATION}/version")).json()
            assert (await admin.post("/v3/services/haproxy/transactions", params={"version": version})).status_code == 201

        async with AsyncExitStack() as stack:
            editors = [await stack.enter_async_context(caller(sidecar, name)) for name in EDITORS]
            admin = await stack.enter_async_context(caller(sidecar, USER[0]))
            statuses = []
            for name, each in [(name, editor) for name, editor in zip("abcd", editors, strict=True) for _ in range(12)]:
                answer = await each.post("/v3/services/haproxy/transactions", params={"version": version})
                statuses.append((name, answer.status_code))
                assert answer.status_code == 201 or "max_open_transactions" in answer.json()["message"]
            # At most 20: ten for one caller, and two reserved for callers with all rights, one of which is in use.
            assert [name for name, status in statuses if status == 201] == [*"a" * 10, *"b" * 7]
            for _ in range(2):
                assert (await admin.post("/v3/services/haproxy/transactions", params={"version": version})).status_code == 201
            assert "maximum amount of 20" in (await admin.post("/v3/services/haproxy/transactions", params={"version": version})).text

    asyncio.run(work())
