"""A child process. It is started by vfork: uvloop forks, which takes tens of milliseconds in a server that holds a large file."""

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
    """A process that is started at once, in a session of its own. Raises OSError.

    `stdin`, `stdout` and `stderr` are files, `PIPE`, or None for nowhere. `home`: its working directory, by default ours.
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
        """Limit each resource (`resource.RLIMIT_*`). If memory is short, the child is killed before this process."""
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
        """Return the exit status, negative for the signal that has ended the process."""
        if not self.ended:
            try:
                descriptor = os.pidfd_open(self._process.pid)
            except OSError:
                return await asyncio.to_thread(self._process.wait)
            try:
                await readable(descriptor)
            finally:
                os.close(descriptor)
        return self._process.wait()

    async def kill(self) -> None:
        """Kill the whole process group, since the child may have started further processes."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await asyncio.shield(self.wait())

    def close(self) -> None:
        """Close the pipes, which are not read any more."""
        for pipe in (self.stdout, self.stderr):
            if pipe is not None:
                pipe.close()


async def read(pipe: IO[bytes], most: int) -> str:
    """Return all that a pipe has, to its end; of more than `most` bytes the first half of them and the last, in whole lines."""
    head, tail = bytearray(), bytearray()
    half, dropped = most // 2, False
    os.set_blocking(pipe.fileno(), False)
    while True:
        await readable(pipe.fileno())
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


async def readable(descriptor: int) -> None:
    """Wait until there is something to read, or the end."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(descriptor, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
