"""The agent on a real HAProxy: good and broken files, commands that lie, no socket to look through."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from haproxy_native.disk.database import Database
from haproxy_native.errors import ReloadFailed
from haproxy_native.process_state import ConfigurationText, Load
from haproxy_native.reload.agent import ReloadAgent
from haproxy_native.reload.records import Records, ReloadRecord
from haproxy_native.reload.strategies import CustomCommand, MasterSocket, ReloadClaim, Strategy
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.master import Master
from haproxy_native.text.document import Document
from tests.haproxy.process import HAProxy
from tests.native.versions import newest


@dataclass(frozen=True)
class Why:
    section: str = "backend app"
    line: int = 7
    keyword: str = "balance"
    why: str = "HAProxy cannot change it live"
    file: str = ""
    remedy: str = ""


@dataclass
class File:
    """Puts back what HAProxy ran when it refuses."""

    path: Path
    version: int = 1
    loads: int = 0
    events: list[str] = field(default_factory=list)
    running: bytes = b""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    known: bool = True
    is_urgent: bool | None = None
    at_work: Load | None = None

    def write(self, text: str) -> None:
        self.path.write_text(text)
        self.version += 1

    def expects_haproxy(self) -> bool:
        return self.known

    @asynccontextmanager
    async def loading(self) -> AsyncIterator[Load]:
        async with self.lock:
            self.loads += 1
            self.at_work = Load(ConfigurationText(Document.parse(self.path.read_bytes()), ""), time.time(), self.version)
            yield self.at_work

    async def loaded(self) -> None:
        assert self.lock.locked() and self.at_work
        self.running = self.at_work.text.document.data
        self.events.append("loaded")

    async def refused(self, record: ReloadRecord) -> ReloadRecord:
        assert self.lock.locked()
        self.events.append(f"refused while {record.status}")
        self.write(self.running.decode())
        return replace(record, restored_version=self.version)

    def runs_since(self, moment: float) -> None:
        """It is not looked at here."""

    def ended(self, record: ReloadRecord) -> None:
        self.events.append(record.status)


Work = Callable[[ReloadAgent, File], Awaitable[None]]


def with_agent(haproxy: HAProxy, work: Work, *, strategy: Strategy | None = None, delay: float = 0.1, **arguments: Any) -> Records:
    """`through` names the sockets of the runtime: both, stats or none."""
    through, patience = arguments.pop("through", "both"), arguments.pop("patience", 20.0)
    records = Records(Database(haproxy.directory / "reloads"))

    async def run() -> None:
        runtime = Runtime(timeout=60)
        places = {"both": (str(haproxy.master), [str(haproxy.stats)]), "stats": (None, [str(haproxy.stats)]), "none": (None, [])}[through]
        await runtime.connect(*places, 0, 0.02)
        file = File(haproxy.file, running=haproxy.file.read_bytes())
        chosen = strategy or MasterSocket(Master(str(haproxy.master)))
        agent = ReloadAgent(chosen, runtime, delay, records, file, patience=patience)
        try:
            await work(agent, file)
        finally:
            await agent.close()

    asyncio.run(run())
    return records


async def outcome(agent: ReloadAgent, identity: str) -> ReloadRecord:
    """The record when it is no longer in progress."""
    async with asyncio.timeout(60):
        while (record := agent.records.get(identity)).status == "in_progress":
            await asyncio.sleep(0.01)
    return record


@newest
def test_many_requests_one_reload(haproxy: HAProxy) -> None:
    before = haproxy.worker_pid()

    async def work(agent: ReloadAgent, file: File) -> None:
        identities = {agent.schedule([Why(line=line)]) for line in range(1, 21)}
        file.write(file.path.read_text().replace("server a", "server b"))
        assert len(identities) == 1 and agent.pending in identities
        await agent.close()
        record = agent.records.get(identities.pop())
        assert record.status == "succeeded" and record.verified and record.version == 2
        assert (record.pid_before, record.pid_after) == (before, haproxy.newest_worker()) and record.pid_after != before
        assert len(record.reasons) == 20 and agent.pending is None
        assert file.loads == 1 and file.events == ["loaded", "succeeded"]
        assert agent.schedule([]) != record.id

    with_agent(haproxy, work, delay=3600.0)
    assert "server b" in haproxy.file.read_text()


def test_a_broken_file_goes_back_before_anyone_sees_the_failure(haproxy: HAProxy, caplog: pytest.LogCaptureFixture) -> None:
    good, before = haproxy.file.read_text(), haproxy.worker_pid()
    caplog.set_level(logging.INFO)

    async def work(agent: ReloadAgent, file: File) -> None:
        file.write(good + "  nonsense\n")
        record = await outcome(agent, agent.schedule([Why()]))
        assert (record.status, record.version, record.restored_version) == ("failed", 2, 3)
        assert record.verified and record.error == "failed to reload configuration"
        assert haproxy.version < (2, 7) or "unknown keyword 'nonsense'" in record.response
        assert file.path.read_text() == good and file.events == ["refused while failed", "failed"]
        file.write(good + "\n# fine again\n")
        assert (await outcome(agent, agent.schedule([]))).status == "succeeded" and agent.pending is None

    records = with_agent(haproxy, work)
    failed = next(shown["id"] for shown in records.api_list() if shown["status"] == "failed")
    assert asyncio.run(records.refused(failed)) == (good + "  nonsense\n").encode() and haproxy.worker_pid() != before
    assert [message for message in caplog.messages if "everting" in message] == ["Reload failed, reverting the last working config..."]
    assert any(getattr(record, "fields", {}).get("reload_id") == failed for record in caplog.records)


def test_an_address_that_cannot_be_bound(haproxy: HAProxy) -> None:
    """Valid for `haproxy -c`, refused when it starts; the worker of before keeps answering."""
    good, before = haproxy.file.read_text(), haproxy.worker_pid()

    async def work(agent: ReloadAgent, file: File) -> None:
        file.write(good + "frontend foreign\n  bind 203.0.113.7:8099\n")
        with pytest.raises(ReloadFailed, match=r"Reload failed: failed to reload configuration"):
            await agent.force([Why()])
        assert file.path.read_text() == good

    with_agent(haproxy, work)
    assert f"Pid: {before}\n" in haproxy.ask_master("@1 show info")


@newest
def test_forced(haproxy: HAProxy) -> None:
    async def work(agent: ReloadAgent, file: File) -> None:
        alone = await agent.force([])
        assert alone.status == "succeeded" and agent.records.api_list() == []
        assert alone.started and alone.ended and alone.requested <= alone.started <= alone.ended <= time.time()
        scheduled = agent.schedule([Why()])
        taken = await agent.force([Why(line=9)])
        assert taken.id == scheduled and agent.pending is None and len(taken.reasons) == 2
        assert [shown["id"] for shown in agent.records.api_list()] == [scheduled]
        waiting = await asyncio.gather(*(agent.force([]) for _ in range(5)))
        assert len({record.id for record in waiting}) <= 2 and file.loads <= 4

    with_agent(haproxy, work, delay=60.0)


@newest
def test_a_client_that_goes_away_does_not_stop_a_reload(haproxy: HAProxy) -> None:
    async def work(agent: ReloadAgent, file: File) -> None:
        client = asyncio.create_task(agent.force([]))
        await asyncio.sleep(0)
        client.cancel()
        await asyncio.wait([client])
        assert client.cancelled()
        await agent.close()
        assert file.events == ["loaded", "succeeded"]

    with_agent(haproxy, work)


@newest
def test_a_request_before_haproxy_reads_the_file_is_covered(haproxy: HAProxy) -> None:
    """Had it a reload of its own, that one could succeed with the file put back after the failure of this one."""

    async def work(agent: ReloadAgent, file: File) -> None:
        async with file.lock:
            first = agent.schedule([Why(line=1)])
            while agent._work is None:
                await asyncio.sleep(0.01)
            assert agent.pending == first == agent.schedule([Why(line=2)])
            forced = asyncio.create_task(agent.force([Why(line=3)]))
            await asyncio.sleep(0)
        record = await forced
        assert (record.id, record.status, len(record.reasons), file.loads) == (first, "succeeded", 3, 1)

    with_agent(haproxy, work)


@newest
def test_a_request_during_a_reload_gets_the_next(haproxy: HAProxy) -> None:
    class Asking(MasterSocket):
        asked = ""

        async def run(self) -> ReloadClaim:
            self.asked = self.asked or agents[0].schedule([])
            return await super().run()

    strategy, agents = Asking(Master(str(haproxy.master))), list[ReloadAgent]()

    async def work(agent: ReloadAgent, file: File) -> None:
        agents.append(agent)
        first = agent.schedule([])
        done = [await outcome(agent, first), await outcome(agent, strategy.asked)]
        assert first != strategy.asked
        assert [record.status for record in done] == ["succeeded", "succeeded"] and file.loads == 2
        assert done[0].pid_after == done[1].pid_before

    with_agent(haproxy, work, strategy=strategy)


def by_signal(haproxy: HAProxy) -> CustomCommand:
    return CustomCommand(["sh", "-c", f"kill -USR2 {haproxy.pid}"])


@pytest.mark.parametrize("through", ["both", "stats"])
def test_a_command_that_does_not_wait_for_haproxy(haproxy: HAProxy, through: str) -> None:
    before = haproxy.worker_pid()

    async def work(agent: ReloadAgent, file: File) -> None:
        record = await agent.force([])
        assert record.verified and record.pid_before == before and record.pid_after == haproxy.newest_worker() != before

    with_agent(haproxy, work, strategy=by_signal(haproxy), through=through)


def test_a_command_whose_reload_fails_later(haproxy: HAProxy) -> None:
    good = haproxy.file.read_text()

    async def work(agent: ReloadAgent, file: File) -> None:
        file.write(good + "  nonsense\n")
        with pytest.raises(ReloadFailed, match="the master reports a failed reload"):
            await agent.force([])
        assert file.path.read_text() == good

    with_agent(haproxy, work, strategy=by_signal(haproxy), patience=600)


@newest
@pytest.mark.parametrize("through", ["both", "stats"])
def test_a_command_that_lies(haproxy: HAProxy, through: str) -> None:
    before = haproxy.worker_pid()

    async def work(agent: ReloadAgent, file: File) -> None:
        record = await outcome(agent, agent.schedule([]))
        assert (record.status, record.verified, record.pid_after) == ("failed", True, before)
        assert f"(pid {before}) still answers" in agent.records.api(record.id)["response"] and "all is well" in record.response
        assert file.events == ["refused while failed", "failed"]

    with_agent(haproxy, work, strategy=CustomCommand(["echo", "all is well"]), through=through, patience=0.1)


@newest
def test_a_command_that_denies_its_success(haproxy: HAProxy) -> None:
    @dataclass
    class Denying:
        master: Master

        async def run(self) -> ReloadClaim:
            await self.master.reload()
            return ReloadClaim(False, "no", "executing it failed: exit status 1")

    async def work(agent: ReloadAgent, file: File) -> None:
        record = await agent.force([])
        assert record.verified and record.error == "" and file.events == ["loaded", "succeeded"]

    with_agent(haproxy, work, strategy=Denying(Master(str(haproxy.master))))


@newest
def test_without_a_socket_the_exit_code_counts_and_is_marked(haproxy: HAProxy) -> None:
    async def work(agent: ReloadAgent, file: File) -> None:
        record = await agent.force([])
        assert (record.status, record.verified, record.pid_before, record.pid_after) == ("succeeded", False, None, None)

    with_agent(haproxy, work, strategy=CustomCommand(["true"]), through="none")


@newest
def test_without_a_socket_a_failed_command_is_a_failure(haproxy: HAProxy) -> None:
    async def work(agent: ReloadAgent, file: File) -> None:
        with pytest.raises(ReloadFailed, match=r"^Reload failed: executing false failed: exit status 1$"):
            await agent.force([])
        record = await outcome(agent, agent.schedule([]))
        assert (record.status, record.verified) == ("failed", False)
        assert agent.records.api(record.id)["response"] == "executing false failed: exit status 1"

    with_agent(haproxy, work, strategy=CustomCommand(["false"]), through="none")


@newest
def test_the_worker_is_seen_anew_after_a_reload(haproxy: HAProxy) -> None:
    """The level of the socket changes with the file."""

    async def work(agent: ReloadAgent, file: File) -> None:
        assert agent._runtime.capabilities.can("set server")
        file.write(file.path.read_text().replace("level admin", "level operator"))
        await agent.force([])
        assert not agent._runtime.capabilities.can("set server") and agent._runtime.capabilities.level == "operator"

    with_agent(haproxy, work, strategy=by_signal(haproxy), through="stats")


@newest
def test_a_caller_that_fails_leaves_a_record_and_the_agent_alive(haproxy: HAProxy, caplog: pytest.LogCaptureFixture) -> None:
    async def work(agent: ReloadAgent, file: File) -> None:
        async def broken(record: ReloadRecord) -> int:
            raise OSError("disk full")

        file.refused = broken  # type: ignore[method-assign]
        file.write(file.path.read_text() + "  nonsense\n")
        record = await outcome(agent, agent.schedule([]))
        assert record.status == "failed" and "Failed to revert to the last working config file: disk full" in record.response
        file.write(haproxy.file.read_text().replace("  nonsense\n", ""))
        assert (await outcome(agent, agent.schedule([]))).status == "succeeded"

    with_agent(haproxy, work)
    assert "restoring the file after reload" in caplog.text
