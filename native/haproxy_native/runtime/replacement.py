"""Replaces a whole map or ACL of the running process: a second version is filled, and takes the place of the first at once.

HAProxy stores a payload line by line, so that a refusal in the middle of a payload would leave half of it (HAProxy Management
Guide, section 9.3, `prepare map`, `prepare acl`).
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from haproxy_native.errors import RuntimeAbsent, RuntimeConflict, RuntimeFailure
from haproxy_native.runtime import responses as answers
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.responses import refused

# The beginning of the two refusals of a version that this worker has not prepared, or has committed already: "in the future" and
# "out of range" (pattern.c).
OTHER_VERSION = "Version number"
_VERSION = re.compile(r"New version created: (\d+)")


@dataclass(frozen=True)
class Commands:
    """The commands of a kind of lists, without version and name."""

    prepare: str
    add: str
    commit: str
    clear: str

    def texts(self, name: str, addition: str) -> Sequence[str]:
        """The commands for people to read; `name` as in a command."""
        return [f"{self.prepare} {name}", f"{self.add} @<version> {name} {addition}", f"{self.commit} @<version> {name}"]


ACL = Commands("prepare acl", "add acl", "commit acl", "clear acl")
MAP = Commands("prepare map", "add map", "commit map", "clear map")


async def replace(runtime: Runtime, kind: Commands, name: str, fill: Callable[[str], Awaitable[None]]) -> None:
    """`fill` gets the beginning of the commands that add to the new version, `add map @2 NAME`.

    When it raises, the list stays as it was and the new version is discarded. Raises RuntimeRefused, what `fill` raises, and RuntimeAbsent
    if the worker was replaced meanwhile.
    """
    async with runtime.versions:
        version = await _prepare(runtime, f"{kind.prepare} {name}")
        try:
            await fill(f"{kind.add} @{version} {name}")
            await runtime.ask(f"{kind.commit} @{version} {name}")
        except BaseException as error:
            if isinstance(error, RuntimeConflict) and OTHER_VERSION in error.answer:
                raise RuntimeAbsent(f"{runtime.worker_place}: the worker was replaced before the new content was complete") from error
            with suppress(RuntimeFailure):
                await runtime.send(f"{kind.clear} @{version} {name}")
            raise


async def _prepare(runtime: Runtime, command: str) -> int:
    answer = await runtime.send(command)
    if created := _VERSION.match(answer):
        return int(created[1])
    raise refused(answers.first_words(answer), command)
