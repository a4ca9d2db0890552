"""A reload that is asked for by itself, without a change that needs one: at once, or at a given time."""

import asyncio

from haproxy_native.errors import ReloadFailed
from haproxy_native.operations.operations import Running, Work
from haproxy_native.reload.agent import ReloadAgent
from haproxy_native.reload.records import FAILED, IN_PROGRESS

RELOAD = "reload"
LOOK_SECONDS = 0.5


def reload(agent: ReloadAgent) -> Work:
    """Done when a worker has loaded the file; reports the `reload_id` of the reload. Fails with ReloadFailed.

    Until it begins it can be cancelled. One that a restart interrupts is not asked for again, but awaited.
    """

    async def work(running: Running) -> None:
        running.cancellable = False
        identity = running.now.progress.get("reload_id", "")
        if not identity:
            identity = agent.schedule(())
            running.report(reload_id=identity)
            await agent.force(())
        while (record := agent.records.get(identity)).status == IN_PROGRESS:  # noqa: ASYNC110 - HAProxy may be started by anybody
            await asyncio.sleep(LOOK_SECONDS)
        if record.status == FAILED:
            raise ReloadFailed(f"Reload failed: {record.response or record.error}")

    return work
