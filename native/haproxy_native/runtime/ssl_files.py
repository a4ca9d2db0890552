"""Certificates, CA files and CRL files in HAProxy's memory: created, replaced and deleted; each change is atomic.

HAProxy holds one open transaction of each kind for all its clients; a change that fails aborts its own, so that no other client is
blocked.
(HAProxy Management Guide, section 9.3: `new|set|add|commit|abort|del ssl cert|ca-file|crl-file`.)
"""

import asyncio
import re
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass

from haproxy_native.errors import RuntimeFailure
from haproxy_native.runtime import responses as answers
from haproxy_native.runtime import ssl_answers
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.refusals import refused

# What is in the answer of each command when it was carried out, and never else.
_DONE: Mapping[str, re.Pattern[str]] = {
    "new": re.compile(r"^New (?:empty certificate store|CA file created|CRL file created) ", re.MULTILINE),
    "set": re.compile(r"^transaction (?:created|updated) for ", re.MULTILINE | re.IGNORECASE),
    "add": re.compile(r"^transaction (?:created|updated) for ", re.MULTILINE | re.IGNORECASE),
    "commit": re.compile(r"^Committing .*^Success!", re.MULTILINE | re.DOTALL),
    "abort": re.compile(r"^Transaction aborted for ", re.MULTILINE),
    "del": re.compile(r"' deleted!\s*\Z"),
}
_CONTINUED = re.compile(r"^transaction updated for ", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True)
class Kind:
    """`form` is that of a command: a verb, HAProxy's words for this kind of file, a name."""

    form: str

    def command(self, verb: str, name: str = "") -> str:
        return self.form.format(verb, argument(name) if name else "").rstrip()


CERTIFICATES, CA_FILES, CRL_FILES = Kind("{} ssl cert {}"), Kind("{} ssl ca-file {}"), Kind("{} ssl crl-file {}")


async def show(runtime: Runtime, kind: Kind, name: str = "", index: int | None = None) -> str:
    """A dump: of all, of one, or of the certificate with an index in that one, empty where there is none. Raises RuntimeRefused."""
    command = kind.command("show", name) + ("" if index is None else f":{index}")
    return await runtime.read(command, r"Filename: " if name else r"# ")


async def create(runtime: Runtime, kind: Kind, name: str, pem: str) -> None:
    """Raises RuntimeRefused, after which there is nothing new of that name."""
    await _to_its_end(_created(runtime, kind, name, pem))


async def replace(runtime: Runtime, kind: Kind, name: str, pem: str) -> None:
    """What is served from the next handshake on. Raises RuntimeRefused, after which the former content is still in use."""
    await _to_its_end(_filled(runtime, kind, "set", name, pem))


async def extend(runtime: Runtime, name: str, pem: str) -> None:
    """Adds certificates to a CA file, from HAProxy 2.7 on. Raises RuntimeRefused."""
    await _to_its_end(_filled(runtime, CA_FILES, "add", name, pem))


async def delete(runtime: Runtime, kind: Kind, name: str) -> None:
    """Raises RuntimeRefused, also for what is in use."""
    await _do(runtime, kind, "del", name)


async def _to_its_end(work: Coroutine[None, None, None]) -> None:
    """Runs to completion even if the request is cancelled: a transaction left open would block every other one."""
    task = asyncio.create_task(work)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    await asyncio.shield(task)


async def _created(runtime: Runtime, kind: Kind, name: str, pem: str) -> None:
    await _do(runtime, kind, "new", name)
    try:
        await _filled(runtime, kind, "set", name, pem)
    except RuntimeFailure:
        with suppress(RuntimeFailure):
            await _do(runtime, kind, "del", name)
        raise


async def _filled(runtime: Runtime, kind: Kind, verb: str, name: str, pem: str) -> None:
    async with runtime.transaction:
        try:
            if _CONTINUED.search(await _do(runtime, kind, verb, name, pem)):
                # Another client left its own parts in a transaction of that name.
                await _do(runtime, kind, "abort", name)
                await _do(runtime, kind, verb, name, pem)
            await _do(runtime, kind, "commit", name)
        except RuntimeFailure:
            await _aborted(runtime, kind, name)
            raise


async def _aborted(runtime: Runtime, kind: Kind, name: str) -> None:
    """Aborts the transaction of this name only: others belong to other clients."""
    with suppress(RuntimeFailure):
        if ssl_answers.open_transaction(await show(runtime, kind)) == name:
            await _do(runtime, kind, "abort", name)


async def _do(runtime: Runtime, kind: Kind, verb: str, name: str, pem: str | None = None) -> str:
    command = kind.command(verb, name)
    answer = await runtime.send(command, pem)
    if not _DONE[verb].search(answer):
        raise refused(answers.first_words(answer), command)
    return answer
