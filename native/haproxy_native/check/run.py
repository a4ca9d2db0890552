"""Runs `haproxy -c`, or the operator's command; at most as many at once for callers as there are processors, and two on a single one.

What HAProxy reads may come from any user of the API, and some of it is executed (Lua) or written (keys) while it is checked. So HAProxy
is confined to a scratch directory (haproxy_native.sandbox) and limited in time and memory; the operator's command may write where it
must.
"""

import asyncio
import os
import resource
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from haproxy_native import shares
from haproxy_native.child import PIPE, Child, read
from haproxy_native.sandbox import confined, programs_of

_KEPT_OUTPUT = 1 << 20
_LARGEST_FILE, _LEAST_MEMORY = 1 << 26, 1 << 30


@dataclass(frozen=True)
class Ended:
    """The exit status, negative for the signal that ended it, and the output."""

    code: int
    stderr: str
    stdout: str


@dataclass(frozen=True)
class Confinement:
    """`scratch` is the directory in which files may change; None where there is none for temporary files."""

    scratch: Path | None
    seconds: float

    def start(self, words: Sequence[str], environment: Mapping[str, str], home: Path | None = None, program: str = "") -> Child:
        """`program` is what the command starts in its own place. Raises OSError."""
        temporary = {"TMPDIR": str(self.scratch)} if self.scratch else {}
        start = partial(Child, words, {**environment, **temporary}, stdout=PIPE, stderr=PIPE, home=home)
        child = confined(start, [self.scratch] if self.scratch else [], _programs(words[0], program or words[0]))
        child.limit(self._limits())
        return child

    def _limits(self) -> dict[int, int]:
        """Returns the limits on processor time, memory, written files and core dumps."""
        memory = max(_LEAST_MEMORY, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)
        return {
            resource.RLIMIT_CPU: int(self.seconds) + 1,
            resource.RLIMIT_DATA: memory,
            resource.RLIMIT_FSIZE: _LARGEST_FILE,
            resource.RLIMIT_CORE: 0,
        }


def _programs(*names: str) -> list[Path]:
    """What may be executed; empty for all, where one is a script."""
    paths = [programs_of(shutil.which(name) or name) for name in names]
    return [path for paths in paths for path in paths] if all(paths) else []


async def run(
    words: Sequence[str], environment: Mapping[str, str], seconds: float, *, within: Confinement | None, home: Path | None = None
) -> Ended:
    """Run a command when it is the caller's turn (haproxy_native.shares); one that is cancelled ends the process.

    Raises ShareExceeded, TimeoutError, and OSError for what cannot be started.
    """
    async with shares.turns("checks of configurations", at_once()).turn():
        child = within.start(words, environment, home) if within else Child(words, environment, stdout=PIPE, stderr=PIPE, home=home)
        assert child.stderr
        assert child.stdout
        try:
            async with asyncio.timeout(seconds):
                stderr, stdout = await asyncio.gather(read(child.stderr, _KEPT_OUTPUT), read(child.stdout, _KEPT_OUTPUT))
                return Ended(await child.wait(), stderr, stdout)
        finally:
            if not child.ended:
                await child.kill()
            child.close()


def at_once() -> int:
    """Return how many checks run at once for callers; a second place keeps callers with all rights from waiting for others."""
    return max(2, len(os.sched_getaffinity(0)))
