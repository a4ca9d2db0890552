"""Run the commands in console blocks of tutorials, how-to guides and other pages of docs/, and compare their output with the pages.

All pages use the same demo in turn. Each page begins with the initial configuration of the demo, and an empty working directory.
`python -m tests.docs.guides PAGE ...` writes the real output of the commands into these pages.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.docs.tour import BETWEEN, COMMAND, Step, comparable, ended, started
from tests.haproxy import binaries
from tests.haproxy.process import free_port
from tests.rules.sources import CHECKOUT

DOCS = CHECKOUT / "docs"
# A block in a list is indented.
BLOCK = re.compile(r"^( *)```console\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
PAGES = sorted(page for folder in ("tutorials", "how-to", ".") for page in (DOCS / folder).glob("*.md") if BLOCK.search(page.read_text()))
LOGIN = "export DATAPLANECTL_URL=http://127.0.0.1:5555 DATAPLANECTL_USER=admin DATAPLANECTL_PASSWORD=demo\n"
# The first change adds the header to the file. Each page must begin with the header, also if it is the only page.
SAVE = LOGIN + "dataplaneapi ctl raw get > {saved} && dataplaneapi ctl weight pages/two 99 && echo SAVED"
# A failed page may have left a pending confirmation.
RESTORE = LOGIN + "dataplaneapi ctl confirm --reject > /dev/null 2>&1; dataplaneapi ctl raw put {saved} --force --wait && echo RESTORED"
# In addition to what changes in the tour: numbers of entries and versions, which depend on the pages before; times of day; temporary names;
# durations; whether HAProxy has all of a split yet.
NUMBERED = re.compile(
    r"(?<=entry )\d+|(?<=confirm )\d+|(?<=confirmation )\d+|(?<=version )\d+|(?<=revert )\d+|(?<=history )\d+"
    r"|\d{4}-\d\d-\d\dT[\d:.]+Z|\b\d+\.\d+ s\b|(?<=complete  )(?:yes|no)"
)


@dataclass(frozen=True)
class Demo:
    """A running demo, with its addresses, and the environment of a shell that uses it."""

    places: dict[str, str]
    environment: dict[str, str]

    def type_in(self, script: str, directory: str) -> str:
        """Run a script of bash and return what it prints on standard output and standard error, with the usual addresses."""
        for usual, place in self.places.items():
            script = script.replace(usual, place)
        done = subprocess.run(
            ["bash", "-c", script],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            check=False,
            timeout=300,
            cwd=directory,
            env=self.environment,
        )
        printed = done.stdout
        for usual, place in self.places.items():
            printed = printed.replace(place, usual)
        return printed


@contextmanager
def demo() -> Iterator[Demo]:
    path = f"{Path(sys.executable).parent}:{binaries.path_with_curl()}"
    with tempfile.TemporaryDirectory(prefix="home-", dir="/tmp") as home:
        environment = {**os.environ, "HAPROXY_BIN": binaries.exactly("3.4"), "TMPDIR": "/tmp", "PATH": path, "HOME": home}
        with started(environment) as found:
            yield Demo({**found, "8443": str(free_port())}, environment)


def run(pages: Sequence[Path]) -> Iterator[tuple[Path, list[Step]]]:
    """Yield each page with its steps, and their real output."""
    with demo() as running, tempfile.TemporaryDirectory(prefix="guides-", dir="/tmp") as directory:
        saved = Path(directory, "demo.cfg")
        prepared = running.type_in(SAVE.format(saved=saved), directory)
        assert "SAVED" in prepared, prepared
        for page in pages:
            work = Path(directory, page.stem)
            work.mkdir()
            prepared = running.type_in(RESTORE.format(saved=saved), str(work))
            assert "RESTORED" in prepared, prepared
            commands = [step.command for step in steps(page.read_text())]
            printed = running.type_in(f"\necho '{BETWEEN}'\n".join(commands), str(work)).split(BETWEEN)
            outputs = [output.removeprefix("\n") for output in printed]
            assert len(outputs) == len(commands), f"{page.name}: the shell ended early: {printed[-1]}"
            yield page, [Step(command, output) for command, output in zip(commands, outputs, strict=True)]


def steps(text: str) -> list[Step]:
    """The steps of all console blocks of a page, in order; a block inside a list is indented."""
    found = []
    for indent, block in BLOCK.findall(text):
        parts = COMMAND.split(_moved(block, indent, ""))
        found += [Step(command, output) for command, output in zip(parts[1::2], parts[2::2], strict=True)]
    return found


def _moved(block: str, old: str, new: str) -> str:
    """Return a block with another indentation."""
    return "".join(new + line.removeprefix(old) if line.strip() else line for line in block.splitlines(keepends=True))


def compared(step: Step) -> tuple[str, str]:
    return step.command, NUMBERED.sub("#", comparable(step.output))


def main() -> None:
    for page, done in run([Path(name).resolve() for name in sys.argv[1:]] or PAGES):
        new = iter(done)

        def filled(block: re.Match[str], new: Iterator[Step] = new) -> str:
            indent = block[1]
            commands = COMMAND.split(_moved(block[2], indent, ""))[1::2]
            text = "```console\n" + "".join(f"$ {command}\n{ended(next(new).output)}" for command in commands) + "```"
            return _moved(text, "", indent)

        page.write_text(BLOCK.sub(filled, page.read_text()))


if __name__ == "__main__":
    main()
