"""Boot a Debian machine in a container, with a real systemd as its first process. All changes in it are temporary.

`with Machine("trixie", log) as machine: machine.run("systemctl is-system-running")`. Its only network is its own loopback interface.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

from tests.haproxy.process import die_with_parent

GET_MACHINE = Path(__file__).parents[1] / "tools" / "get-machine"
BOOT_SECONDS = 60
LANDLOCK = ("landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self")


class Machine:
    """`suite` is Debian's; `binds` are directories of this machine, by the path under which the other sees them, read-only.

    `kept`: an empty directory for what it writes, so that it has it after `stop` and `start`.
    """

    def __init__(self, suite: str, log: Path, binds: Mapping[str, Path] | None = None, kept: Path | None = None) -> None:
        self.suite, self._log, self._binds, self._kept, self.leader = suite, log, binds or {}, kept, 0

    def start(self, switch: "Switch | None" = None, address: str = "") -> Self:
        """Skips the test where there may be no such machine, with the reason. `address`: of the machine in the network of `switch`."""
        if reason := missing():
            pytest.skip(reason)
        tree = _asked(self.suite)
        words = [_asked("nspawn"), "--register=no", "--keep-unit", "--quiet", "--private-network", "--boot", "--console=read-only"]
        words += ["--directory", str(self._kept / "root")] if self._kept else ["--directory", tree, "--volatile=overlay"]
        # Its own filter leaves them out, which an ordinary machine does not.
        words += [f"--system-call-filter={' '.join(LANDLOCK)}"]
        words += [f"--bind-ro={there}:{here}" for here, there in self._binds.items()]
        if self._kept:
            words = _mounted(tree, self._kept, words)
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=die_with_parent)
        deadline = time.monotonic() + BOOT_SECONDS
        # Before it has booted: services may wait for other machines.
        is_plugged = switch is None
        while not (is_plugged and self._is_up()):
            is_plugged = is_plugged or bool(switch and switch.plug(self._first_process(), address))
            assert self._process.poll() is None, f"the machine ended:\n{self._log.read_text(errors='replace')}"
            assert time.monotonic() < deadline, f"the machine does not come up:\n{self._log.read_text(errors='replace')}"
            time.sleep(0.05)
        return self

    def _first_process(self) -> int:
        """Return the pid of the child of systemd-nspawn, 0 if there is none."""
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        return int(children[0]) if children else 0

    def _is_up(self) -> bool:
        self.leader = self._first_process()
        return bool(self.leader) and self.ask("systemctl is-system-running").stdout.strip() in ("running", "degraded")

    def stop(self) -> None:
        """Kill the machine."""
        if self._process.poll() is None:
            os.kill(self.leader or self._process.pid, signal.SIGKILL)
        self._process.wait(60)

    @property
    def root(self) -> Path:
        """Return the root directory of the machine, as the host sees it."""
        return Path(f"/proc/{self.leader}/root")

    def enter(self, *words: str) -> list[str]:
        return ["nsenter", "--target", str(self.leader), "--all", *words]

    def ask(self, script: str, seconds: float = 120) -> subprocess.CompletedProcess[str]:
        """Run a shell script, and return its result even if it fails."""
        return subprocess.run(self.enter("/bin/sh", "-c", script), capture_output=True, text=True, timeout=seconds, check=False)

    def run(self, script: str) -> str:
        """Run a shell script that must succeed, and return its output."""
        done = self.ask(script)
        assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}{self.journal()}"
        return done.stdout.strip()

    def restart(self) -> None:
        """Restart the service, even more often than systemd allows, which is five times in ten seconds."""
        self.run("systemctl daemon-reload && systemctl reset-failed dataplaneapi && systemctl restart dataplaneapi")

    def until(self, script: str, seconds: float = 60) -> str:
        """Run a shell script until it succeeds, and return its output."""
        deadline = time.monotonic() + seconds
        while (done := self.ask(script)).returncode:
            assert time.monotonic() < deadline, f"{script}\n{done.stdout}{done.stderr}{self.journal()}"
            time.sleep(0.1)
        return done.stdout.strip()

    def start_script(self, words: Sequence[str], **named: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(self.enter(*words), text=True, **named)

    def journal(self) -> str:
        return self.ask("journalctl --no-pager -n 40 -u dataplaneapi -u haproxy").stdout

    def put(self, source: Path, target: str) -> None:
        shutil.copyfile(source, self.root / target.lstrip("/"))

    def write(self, target: str, text: str) -> None:
        path = self.root / target.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            if hasattr(self, "_process"):
                self.stop()
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()


def _mounted(tree: str, kept: Path, words: Sequence[str]) -> list[str]:
    """Return the command that mounts `tree`, with changes in `kept`, at `kept`/root for itself, and then becomes `words`."""
    for name in ("upper", "work", "root"):
        (kept / name).mkdir(exist_ok=True)
    mount = f"mount -t overlay overlay -o lowerdir={tree},upperdir={kept}/upper,workdir={kept}/work {kept}/root"
    return ["unshare", "--mount", "sh", "-c", f'{mount} && exec "$@"', "sh", *words]


class Switch:
    """A network of machines, which ends with its context."""

    def __enter__(self) -> Self:
        script = "ip link add br0 type bridge && ip link set br0 up && echo up && exec sleep infinity"
        self._process = subprocess.Popen(
            ["unshare", "--net", "sh", "-c", script], stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent
        )
        assert self._process.stdout and self._process.stdout.readline() == "up\n"
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait(60)

    def plug(self, leader: int, address: str) -> bool:
        """Give a machine an interface with an address such as 10.0.0.1/24. Return False if it has no network namespace of its own yet."""
        own = Path("/proc/self/ns/net").readlink()
        if not leader or not Path(f"/proc/{leader}/ns/net").exists() or Path(f"/proc/{leader}/ns/net").readlink() == own:
            return False
        here, there, port = str(self._process.pid), str(leader), f"port{leader}"
        _ip("link", "add", port, "netns", here, "type", "veth", "peer", "name", "lan", "netns", there)
        _ip("link", "set", port, "master", "br0", "up", inside=here)
        _ip("address", "add", address, "dev", "lan", inside=there)
        _ip("link", "set", "lan", "up", inside=there)
        return True


def _ip(*words: str, inside: str = "self") -> None:
    """Run `ip` in the network namespace of the process `inside`."""
    subprocess.run(["nsenter", f"--net=/proc/{inside}/ns/net", "ip", *words], check=True)


def suites() -> list[str]:
    """Return the suites of Debian that `make e2e` names in E2E_SUITES, or the newest."""
    return os.environ.get("E2E_SUITES", "").split() or ["trixie"]


def _asked(word: str) -> str:
    done = subprocess.run([sys.executable, str(GET_MACHINE), word], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(done.stderr.strip())
    return done.stdout.strip()


def missing() -> str:
    """Return why no machine can be booted here; '' if a machine can."""
    if not shutil.which("unshare") or not shutil.which("nsenter"):
        return "no unshare and nsenter here: no machine is booted"
    tried = subprocess.run(["unshare", "--mount", "--pid", "--net", "--fork", "true"], capture_output=True, text=True, check=False)
    return f"no namespaces of its own here, so no machine is booted: {tried.stderr.strip()}" if tried.returncode else ""
