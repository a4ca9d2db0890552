"""The operation of a reload that a client requests without a change, at once or at a given time."""

import asyncio

from haproxy_native.errors import ReloadFailed
from haproxy_native.operations.operations import RunningOperation, Work
from haproxy_native.reload.agent import ReloadAgent
from haproxy_native.reload.records import FAILED, IN_PROGRESS

RELOAD = "reload"
POLL_SECONDS = 0.5


def reload(agent: ReloadAgent) -> Work:
    """Return the work: it reports the `reload_id`, and is done when a worker has loaded the file. Fails with ReloadFailed.

    Until it begins it can be cancelled. After a restart of the server it waits for the reload that it has requested before.
    """

    async def work(running: RunningOperation) -> None:
        running.cancellable = False
        identity = running.now.progress.get("reload_id", "")
        if not identity:
            identity = agent.schedule(())
            running.report(reload_id=identity)
            await agent.force(())
        while (record := agent.records.get(identity)).status == IN_PROGRESS:  # noqa: ASYNC110 - HAProxy may be started by anybody
            await asyncio.sleep(POLL_SECONDS)
        if record.status == FAILED:
            raise ReloadFailed(f"Reload failed: {record.response or record.error}")

    return work
