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
    """A machine with a suite of Debian. `binds` are directories of the host, by their path in the machine, which are read-only there."""

    def __init__(self, suite: str, log: Path, binds: Mapping[str, Path] | None = None) -> None:
        self.suite, self._log, self._binds, self.leader = suite, log, binds or {}, 0

    def start(self) -> Self:
        """Boot the machine. Skips the test, with the reason, if no machine can be booted here."""
        if reason := missing():
            pytest.skip(reason)
        words = [_asked("nspawn"), "--register=no", "--keep-unit", "--quiet", "--directory", _asked(self.suite)]
        words += ["--volatile=overlay", "--private-network", "--boot", "--console=read-only"]
        # The default filter of nspawn forbids the system calls of Landlock, which an ordinary machine permits.
        words += [f"--system-call-filter={' '.join(LANDLOCK)}"]
        words += [f"--bind-ro={there}:{here}" for here, there in self._binds.items()]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=die_with_parent)
        deadline = time.monotonic() + BOOT_SECONDS
        while not self._is_up():
            assert self._process.poll() is None, f"the machine ended:\n{self._log.read_text(errors='replace')}"
            assert time.monotonic() < deadline, f"the machine does not come up:\n{self._log.read_text(errors='replace')}"
            time.sleep(0.05)
        return self

    def _is_up(self) -> bool:
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        self.leader = int(children[0]) if children else 0
        return bool(children) and self.ask("systemctl is-system-running").stdout.strip() in ("running", "degraded")

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
