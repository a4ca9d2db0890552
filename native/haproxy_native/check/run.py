"""Runs `haproxy -c`, or the operator's command. As many run at once for callers as there are processors, but at least two.

What HAProxy reads may come from any user of the API, and some of it is executed (Lua) or written (keys) while it is checked. So HAProxy
is confined to a scratch directory and to name servers (haproxy_native.sandbox), and limited in time and memory; the operator's command may
write and connect where it must.
"""

import asyncio
import os
import resource
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from haproxy_native.child import PIPE, Child, read
from haproxy_native.sandbox import confined
from haproxy_native.shares import Turns, turns

# Shadows that run at once for callers; each has the limits of a check.
SHADOWS = 2
_KEPT_OUTPUT = 1 << 20
_LARGEST_FILE, _LEAST_MEMORY = 1 << 26, 1 << 28
_CGROUPS = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Ended:
    """The exit status, negative for the signal that ended it, and the output."""

    code: int
    stderr: str
    stdout: str


@dataclass(frozen=True)
class Confinement:
    """`scratch` is the directory in which files may change; None where there is none for temporary files. `names`: it may ask name
    servers, else nobody.
    """

    scratch: Path | None
    seconds: float
    names: bool = True

    def start(
        self, words: Sequence[str], environment: Mapping[str, str], home: Path | None = None, *, stdin: Any = None, stdout: Any = PIPE
    ) -> Child:
        """Raises OSError."""
        temporary = {"TMPDIR": str(self.scratch)} if self.scratch else {}
        start = partial(Child, words, {**environment, **temporary}, stdin=stdin, stdout=stdout, stderr=PIPE, home=home)
        child = confined(start, [self.scratch] if self.scratch else [], names=self.names)
        child.limit(self._limits())
        return child

    def _limits(self) -> dict[int, int]:
        """Returns the limits on processor time, memory, written files and core dumps."""
        return {
            resource.RLIMIT_CPU: int(self.seconds) + 1,
            # All checks and shadows that may run at once have half of the memory together, and each of them an equal part of that.
            resource.RLIMIT_DATA: max(_LEAST_MEMORY, memory() // 2 // (at_once() + SHADOWS)),
            resource.RLIMIT_FSIZE: _LARGEST_FILE,
            resource.RLIMIT_CORE: 0,
        }


def memory() -> int:
    """Returns the bytes of memory that this process may have: the machine's, or the least limit of its control groups (cgroups(7))."""
    least = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError):
        own = next((line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::")), "/")
        group = _CGROUPS / own.lstrip("/")
        for directory in (group, *group.parents):
            with suppress(OSError, ValueError):
                least = min(least, int((directory / "memory.max").read_text()))
    return least


async def run(
    words: Sequence[str], environment: Mapping[str, str], seconds: float, *, within: Confinement | None, home: Path | None = None
) -> Ended:
    """Run a command; one that is cancelled ends the process. Raises TimeoutError, and OSError for what cannot be started."""
    child = within.start(words, environment, home) if within else Child(words, environment, stdout=PIPE, stderr=PIPE, home=home)
    assert child.stderr
    assert child.stdout
    try:
        async with asyncio.timeout(seconds):
            stderr, stdout = await asyncio.gather(read(child.stderr, _KEPT_OUTPUT), read(child.stdout, _KEPT_OUTPUT))
            return Ended(await child.wait(), stderr, stdout)
    finally:
        try:
            if not child.ended:
                await child.kill()
        finally:
            child.close()


def at_once() -> int:
    """Return how many checks run at once for callers; a second place keeps callers with all rights from waiting for others."""
    return max(2, len(os.sched_getaffinity(0)))


def checks() -> Turns:
    """Return the pool in which callers wait for the turn of their check."""
    return turns("checks of configurations", at_once())
