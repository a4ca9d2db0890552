"""Run the console blocks of the tour in README.md one after the other, with `python -m demo`.

`python -m tests.docs.tour` writes the real output of the commands into README.md.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.haproxy import binaries
from tests.rules.sources import CHECKOUT

README = CHECKOUT / "README.md"
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
COMMAND = re.compile(r"^\$ (.*(?<=\\)(?:\n.*(?<=\\))*\n.*|.*)\n", re.MULTILINE)
BETWEEN = "---8<---"
# The parts of the output that differ in each run: ids, dates, ports, and the directory of the demo.
CHANGING = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|\d{4}-\d\d-\d\d-\d+|/tmp/dataplane-demo-\w+|\b[3-6]\d{4}\b|(?<=\()\d+(?=\) :)|\b1[789]\d{8}\b"
)


@dataclass(frozen=True)
class Step:
    """A command, and its output."""

    command: str
    output: str


def steps(text: str) -> list[Step]:
    """Return the steps of all console blocks on a page that belong to the tour, in order."""
    found = []
    for block in BLOCK.findall(_tour(text)):
        parts = COMMAND.split(block)
        found += [Step(command, output) for command, output in zip(parts[1::2], parts[2::2], strict=True)]
    return found


def _tour(text: str) -> str:
    return text.partition("\n## A tour")[2].partition("\n## ")[0]


def run(commands: list[str]) -> list[str]:
    """Start a demo, run the commands in one shell, and return their output."""
    environment = {**os.environ, "HAPROXY_BIN": binaries.exactly("3.4"), "TMPDIR": "/tmp", "PATH": binaries.path_with_curl()}
    with started(environment) as found:
        script = f"\necho '{BETWEEN}'\n".join(commands)
        for usual, place in found.items():
            script = script.replace(usual, place)
        printed = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, timeout=500, env=environment)
    said = printed.stdout
    for usual, place in found.items():
        said = said.replace(place, usual)
    return [output.removeprefix("\n") for output in said.split(BETWEEN)]


@contextmanager
def started(environment: dict[str, str]) -> Iterator[dict[str, str]]:
    """Start a demo, and yield its addresses."""
    command = [sys.executable, "-m", "demo"]
    with subprocess.Popen(command, cwd=CHECKOUT, env=environment, stdout=subprocess.PIPE, text=True) as demo:
        try:
            yield places(demo)
        finally:
            demo.terminate()


def places(demo: subprocess.Popen[str]) -> dict[str, str]:
    """Return the address of the demo for each of its usual addresses. The demo uses other ports if its usual ports are in use."""
    assert demo.stdout
    printed = ""
    while "Ctrl-C stops both" not in printed:
        line = demo.stdout.readline()
        assert line, f"the demo ended:\n{printed}"
        printed += line
    (line,) = re.findall(r"^HAProxy serves.*", printed, re.MULTILINE)
    site, api = re.findall(r"127\.0\.0\.1:(\d+)", line)
    return {"127.0.0.1:8080": f"127.0.0.1:{site}", "127.0.0.1:5555": f"127.0.0.1:{api}"}


def comparable(output: str) -> str:
    return CHANGING.sub("#", output).strip()


def main() -> None:
    text = README.read_text()
    old = steps(text)
    new = iter(run([step.command for step in old]))

    def filled(block: re.Match[str]) -> str:
        commands = COMMAND.split(block[1])[1::2]
        return "```console\n" + "".join(f"$ {command}\n{ended(next(new))}" for command in commands) + "```"

    before, title, rest = text.partition("\n## A tour")
    tour, following, after = rest.partition("\n## ")
    README.write_text(before + title + BLOCK.sub(filled, tour) + following + after)


def ended(output: str) -> str:
    return output if not output or output.endswith("\n") else output + "\n"


if __name__ == "__main__":
    main()
