"""Start child processes and read their output without blocking the event loop.

uvloop starts processes by fork, which takes tens of milliseconds in a server with a large configuration. `subprocess` uses vfork.
"""

import asyncio
import os
import resource
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

PIPE = subprocess.PIPE


class Child:
    """A child process in a session of its own. The constructor starts the process, and raises OSError if that fails.

    `stdin`, `stdout` and `stderr` are files, `PIPE`, or None for /dev/null. `home`: the working directory; None for this process's own.
    """

    def __init__(
        self,
        words: Sequence[str],
        environment: Mapping[str, str] | None = None,
        *,
        stdin: Any = None,
        stdout: Any = None,
        stderr: Any = None,
        home: str | os.PathLike[str] | None = None,
    ) -> None:
        nowhere = subprocess.DEVNULL
        given, out, err = (nowhere if stream is None else stream for stream in (stdin, stdout, stderr))
        self._process: subprocess.Popen[bytes] = subprocess.Popen(
            words, stdin=given, stdout=out, stderr=err, env=environment, cwd=home, start_new_session=True
        )
        self.stdout, self.stderr = self._process.stdout, self._process.stderr

    def limit(self, limits: Mapping[int, int]) -> None:
        """Limit the child's resources (`resource.RLIMIT_*`). Ignore limits that cannot be set.

        Also have the kernel kill the child before this process if memory is short.
        """
        with suppress(OSError):
            Path(f"/proc/{self._process.pid}/oom_score_adj").write_text("1000")
        with suppress(OSError):
            for kind, most in limits.items():
                _, hard = resource.prlimit(self._process.pid, kind)
                least = most if hard == resource.RLIM_INFINITY else min(most, hard)
                resource.prlimit(self._process.pid, kind, (least, least))

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    async def wait(self) -> int:
        """Wait until the process ends. Return its exit status, or the negative number of the signal that killed it."""
        if not self.ended:
            try:
                descriptor = os.pidfd_open(self._process.pid)
            except OSError:
                return await asyncio.to_thread(self._process.wait)
            try:
                await wait_readable(descriptor)
            finally:
                os.close(descriptor)
        return self._process.wait()

    async def kill(self) -> None:
        """Kill the child's whole process group, since it may have started further processes. Return when the child has ended."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await asyncio.shield(self.wait())

    def close(self) -> None:
        """Close the pipes of `stdout` and `stderr`."""
        for pipe in (self.stdout, self.stderr):
            if pipe is not None:
                pipe.close()


async def read(pipe: IO[bytes], most: int) -> str:
    """Read a pipe to its end and return the text.

    If the text has more than `most` bytes, return only the whole lines in its first `most / 2` and its last `most / 2` bytes.
    """
    head, tail = bytearray(), bytearray()
    half, dropped = most // 2, False
    os.set_blocking(pipe.fileno(), False)
    while True:
        await wait_readable(pipe.fileno())
        part = os.read(pipe.fileno(), 65536)
        if not part:
            break
        taken = max(0, half - len(head))
        head += part[:taken]
        tail += part[taken:]
        if len(tail) > 2 * half:
            dropped = True
            del tail[:-half]
    if dropped or len(tail) > half:
        del head[head.rfind(b"\n") + 1 or len(head) :], tail[:-half]
        del tail[: tail.find(b"\n") + 1]
    return (head + tail).decode("utf-8", "replace")


async def wait_readable(descriptor: int) -> None:
    """Wait until a descriptor has data to read or is at its end."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(descriptor, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
