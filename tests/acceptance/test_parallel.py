"""Call the server with many clients at once. No call into a transaction may be lost, and all accepted writes with a version are made."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.acceptance.quick import PLAIN, Quick
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import CONFIGURATION, USER

CONFIG = (
    PLAIN
    + """\
frontend site from plain
    bind 127.0.0.1:{site}
    default_backend app

backend app from plain
{servers}
"""
)
KEPT = 40
Ask = Callable[..., Awaitable[httpx2.Response]]


@pytest.fixture
def sidecar(tmp_path: Path) -> Iterator[Quick]:
    servers = "\n".join(f"    server kept{number} 127.0.0.1:1" for number in range(KEPT))
    config = CONFIG.format(site=free_port(), servers=servers)
    with HAProxy(tmp_path, config, binary=binaries.exactly("3.2")) as haproxy, Quick(haproxy) as running:
        yield running


def at_once(sidecar: Quick, work: Callable[[Ask], Awaitable[Any]]) -> Any:
    """Run `work` with a client that opens as many connections as it needs."""

    async def run() -> Any:
        url, limits = f"http://127.0.0.1:{sidecar.port}", httpx2.Limits(max_connections=None)
        async with httpx2.AsyncClient(base_url=url, auth=USER, timeout=120, verify=False, limits=limits) as client:

            async def ask(method: str, path: str, body: Any = None, **query: Any) -> httpx2.Response:
                return await client.request(method, f"{CONFIGURATION}/{path}", params=query, **({} if body is None else {"json": body}))

            return await work(ask)

    return asyncio.run(run())


def test_200_calls_into_one_transaction(sidecar: Quick) -> None:
    transaction, where = sidecar.transaction(), "backends/app/servers"
    new = {"address": "127.0.0.1", "port": 2}

    async def work(ask: Ask) -> list[httpx2.Response]:
        calls = [ask("POST", where, {"name": f"new{each}", **new}, transaction_id=transaction) for each in range(80)]
        calls += [
            ask("PUT", f"{where}/kept{each}", {"name": f"kept{each}", **new, "weight": 7}, transaction_id=transaction) for each in range(20)
        ]
        calls += [ask("DELETE", f"{where}/kept{each}", transaction_id=transaction) for each in range(20, KEPT)]
        calls += [ask("POST", "backends", {"name": f"more{each}", "from": "plain"}, transaction_id=transaction) for each in range(40)]
        acl = {"criterion": "path_beg", "value": "/a"}
        calls += [ask("POST", "frontends/site/acls/0", {"acl_name": f"a{each}", **acl}, transaction_id=transaction) for each in range(40)]
        return await asyncio.gather(*calls)

    answers = at_once(sidecar, work)
    assert len(answers) == 200
    assert {answer.status_code for answer in answers} == {202}, next(answer.text for answer in answers if answer.status_code != 202)
    assert sidecar.get(where).json() == [{"name": f"kept{each}", "address": "127.0.0.1", "port": 1} for each in range(KEPT)]
    commit = sidecar.commit(transaction)
    assert sidecar.reloaded(commit)["status"] == "succeeded"
    words = {" ".join(line.split()) for line in sidecar.text().splitlines()}
    assert {line for line in words if line.startswith("server ")} == {
        *(f"server new{each} 127.0.0.1:2" for each in range(80)),
        *(f"server kept{each} 127.0.0.1:2 weight 7" for each in range(20)),
    }
    assert {line for line in words if line.startswith("acl ")} == {f"acl a{each} path_beg /a" for each in range(40)}
    assert {f"backend more{each} from plain" for each in range(40)} <= words
    assert sidecar.version() == 2


@pytest.mark.parametrize("reads", [1, 2], ids=["all with one version", "each with the version it has read"])
def test_25_writers_with_versions(sidecar: Quick, reads: int) -> None:
    """Some changes are made at runtime and some by reloads, so that commits happen during reloads."""
    version = sidecar.version()

    async def write(ask: Ask, number: int) -> tuple[str, httpx2.Response]:
        seen = int((await ask("GET", "version")).text) if reads > 1 else version
        name = f"writer{number}"
        if number % 5:
            return name, await ask("POST", "backends/app/servers", {"name": name, "address": "127.0.0.1", "port": 3}, version=seen)
        return name, await ask("POST", "backends", {"name": name, "from": "plain"}, version=seen)

    async def work(ask: Ask) -> list[tuple[str, httpx2.Response]]:
        return await asyncio.gather(*(write(ask, number) for number in range(25)))

    answers = at_once(sidecar, work)
    won = {name for name, answer in answers if answer.is_success}
    lost = [answer for _, answer in answers if not answer.is_success]
    assert {answer.status_code for answer in lost} <= {409}, [answer.text for answer in lost]
    assert all("version mismatch" in answer.json()["message"] for answer in lost)
    written = {line.split()[1] for line in sidecar.text().splitlines() if line.strip().startswith(("server writer", "backend writer"))}
    assert written == won
    assert sidecar.version() == version + len(won)
    assert len(won) == 1 if reads == 1 else won


def test_25_writers_who_try_again_all_come_in(sidecar: Quick) -> None:
    """A refused writer tries again with the version in the header of the refusal."""

    async def write(ask: Ask, number: int) -> int:
        version, tries = "1", 0
        while True:
            body = {"name": f"writer{number}", "address": "127.0.0.1", "port": 3}
            answer = await ask("POST", "backends/app/servers", body, version=version)
            if answer.status_code != 409:
                assert answer.is_success, answer.text
                return tries
            version, tries = answer.headers["Configuration-Version"], tries + 1

    async def work(ask: Ask) -> list[int]:
        return await asyncio.gather(*(write(ask, number) for number in range(25)))

    at_once(sidecar, work)
    names = [server["name"] for server in sidecar.get("backends/app/servers").json()]
    assert sorted(names) == sorted([*(f"kept{each}" for each in range(KEPT)), *(f"writer{each}" for each in range(25))])
    assert sidecar.version() == 26
