"""Run `haproxy -c` confined and with limits, or the operator's command, in an environment with selected variables.

The text may come from any user of the API, and during a check HAProxy executes Lua code and writes keys. So HAProxy may write only to a
scratch directory and connect only to name servers (haproxy_native.sandbox), and its time and memory are limited. The operator's command is
not confined, and only its time is limited.

A check and a shadow get the environment variables that HAProxy and its libraries read, and those that the current configuration names, but
none of this server's own variables. A configuration that is not committed yet cannot read a variable by naming it.

The number of concurrent checks is the number of processors, but at least two.
"""

import asyncio
import os
import re
import resource
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from haproxy_native.child import PIPE, Child, read
from haproxy_native.sandbox import start_confined
from haproxy_native.shares import Turns, turns

# With these variables, HAProxy would act as a worker of the master that has started this server.
_OF_A_MASTER = r"HAPROXY_(?:STARTUPLOGS_FD|MWORKER_WAIT_ONLY|PROCESSES)"
# Variables of the service manager, and secrets of this server.
_OWN = re.compile(
    rf"{_OF_A_MASTER}|NOTIFY_SOCKET|WATCHDOG_\w+|LISTEN_\w+|CREDENTIALS_DIRECTORY|INVOCATION_ID|JOURNAL_STREAM|MAINPID|SYSTEMD_\w+"
    r"|DBUS_\w+|SSH_\w+|SUDO_\w+|AWS_\w*(?:KEY|TOKEN)\w*|CONSUL_HTTP_TOKEN\w*|OTEL_\w*HEADERS|\w*CI_DATAPLANE\w*"
)
# Variables that HAProxy and its libraries read.
_READ = re.compile(
    r"PATH|TZ|TZDIR|LANG|LANGUAGE|LC_\w+|LD_LIBRARY_PATH|OPENSSL_\w+|SSL_CERT_\w+|LUA_C?PATH\w*|RES_OPTIONS|LOCALDOMAIN|HOSTALIASES"
    r"|MALLOC_\w+|GLIBC_TUNABLES"
)
# Every line that names a variable contains one of these: ${V}, "$V", env(V), defined(V), presetenv and others.
_SIGNS = (b"$", b"env", b"defined")
_NAME = re.compile(rb"[A-Za-z_]\w*")


def haproxy_environment(environ: Mapping[str, str], in_force: Iterable[Path]) -> dict[str, str]:
    """Return the environment for HAProxy: the variables that HAProxy reads itself, and those that the files `in_force` name. Blocks.

    `in_force`: the files of the current configuration. Unreadable files are skipped.
    """
    others = {name.encode() for name in environ if not _READ.fullmatch(name)}
    named: set[str] = set()
    for path in in_force:
        # Reading a pipe or a device could block for ever.
        with suppress(OSError):
            named |= {name.decode() for name in _names_in_references(path.read_bytes(), others)} if path.is_file() else set()
    return {name: value for name, value in command_environment(environ).items() if name in named or _READ.fullmatch(name)}


def command_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for the operator's command: all variables except those that belong to this server (`_OWN`)."""
    return {name: value for name, value in environ.items() if not _OWN.fullmatch(name)}


def _names_in_references(text: bytes, names: set[bytes]) -> set[bytes]:
    """Return the elements of `names` that occur in lines of `text` which refer to variables."""
    named: set[bytes] = set()
    for sign in _SIGNS:
        at = text.find(sign)
        while at >= 0 and len(named) < len(names):
            end = text.find(b"\n", at) % (len(text) + 1)
            named |= names.intersection(_NAME.findall(text, text.rfind(b"\n", 0, at) + 1, end))
            at = text.find(sign, end)
    return named


# Shadows that run at once for callers; each has the limits of a check.
SHADOWS = 2
_KEPT_OUTPUT = 1 << 20
_LARGEST_FILE, _LEAST_MEMORY = 1 << 26, 1 << 28
_CGROUPS = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Ended:
    """The outcome of a command."""

    # The exit status; negative for the signal that ended it.
    code: int
    stderr: str
    stdout: str


@dataclass(frozen=True)
class Confinement:
    """Starts commands in the sandbox, with the limits in the fields."""

    # The only directory that it may write; None if it may write nowhere.
    scratch: Path | None
    # The limit of CPU time.
    seconds: float
    # Whether it may query name servers; it may connect to nothing else.
    names: bool = True

    def start(
        self, words: Sequence[str], environment: Mapping[str, str], home: Path | None = None, *, stdin: Any = None, stdout: Any = PIPE
    ) -> Child:
        """Start a confined command. Raises OSError."""
        temporary = {"TMPDIR": str(self.scratch)} if self.scratch else {}
        start = partial(Child, words, {**environment, **temporary}, stdin=stdin, stdout=stdout, stderr=PIPE, home=home)
        child = start_confined(start, [self.scratch] if self.scratch else [], names=self.names)
        child.limit(self._limits())
        return child

    def _limits(self) -> dict[int, int]:
        """Return the limits of CPU time, memory, written files and core dumps."""
        return {
            resource.RLIMIT_CPU: int(self.seconds) + 1,
            # All checks and shadows that may run at once share half of the memory equally.
            resource.RLIMIT_DATA: max(_LEAST_MEMORY, memory() // 2 // (most_concurrent_checks() + SHADOWS)),
            resource.RLIMIT_FSIZE: _LARGEST_FILE,
            resource.RLIMIT_CORE: 0,
        }


def memory() -> int:
    """Return how many bytes of memory this process may use: the machine's, or less if a control group limits it (cgroups(7))."""
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
    """Run a command and return its outcome. Cancelling the caller kills the command.

    `within`: the confinement of the command; None to run the command without one.

    Raises TimeoutError after `seconds`, and OSError if the command cannot be started.
    """
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


def most_concurrent_checks() -> int:
    """Return how many checks may run at once, at least two, so that callers with all rights need not wait for others."""
    return max(2, len(os.sched_getaffinity(0)))


def checks() -> Turns:
    """Return the pool that limits concurrent checks."""
    return turns("checks of configurations", most_concurrent_checks())
