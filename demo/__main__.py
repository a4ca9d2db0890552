"""`python -m demo`: starts HAProxy and the server, says what to try, and stops both on Ctrl-C.

HAPROXY_BIN names the binary; `make demo` asks tests/tools/get-haproxy for it.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import FrameType
from typing import NoReturn

from demo.children import die_with_parent, start, stop
from demo.stage import Stage, prepare

SECONDS_TO_START = 30.0
WELCOME = """\
HAProxy serves http://127.0.0.1:{stage.site}/ ; the API answers at http://127.0.0.1:{stage.api}/v3 (user admin, password demo).
The files: {stage.directory}. Three things to try in another terminal:

  curl -s http://127.0.0.1:{stage.site}/ http://127.0.0.1:{stage.site}/

  curl -s -u admin:demo {stage.url}/backends/pages/servers

  curl -s -u admin:demo -X PUT -H 'Content-Type: application/json' \\
    -d '{{"name": "two", "address": "127.0.0.1", "port": {stage.two}, "weight": 0}}' \\
    "{stage.url}/backends/pages/servers/two?version=$(curl -s -u admin:demo {stage.url}/version)"

After the third, page one takes all traffic, without a reload: the weight was changed live. Ctrl-C stops both.
"""


def main() -> None:
    die_with_parent()
    signal.signal(signal.SIGTERM, _interrupt)
    haproxy = os.environ.get("HAPROXY_BIN") or shutil.which("haproxy", path="/usr/local/sbin:/usr/sbin:" + os.environ.get("PATH", ""))
    if not haproxy:
        sys.exit("no haproxy: name one in HAPROXY_BIN")
    with tempfile.TemporaryDirectory(prefix="dataplane-demo-") as directory:
        try:
            play(prepare(Path(directory), haproxy))
        except KeyboardInterrupt:
            sys.stderr.write("\nstopped\n")


def play(stage: Stage) -> None:
    """Runs both until one of them ends or the user has seen enough."""
    server = [str(Path(sys.executable).with_name("dataplaneapi")), "-f", str(stage.settings)]
    children: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for name, command in {"haproxy": stage.haproxy_command, "dataplaneapi": server}.items():
            children[name] = start(command, stage.directory / f"{name}.log")
        wait_until_it_answers(stage, children)
        print(WELCOME.format(stage=stage), flush=True)
        while True:
            give_up_on_the_dead(stage, children)
            time.sleep(0.5)
    finally:
        for child in reversed(children.values()):
            stop(child)


def wait_until_it_answers(stage: Stage, children: dict[str, subprocess.Popen[bytes]]) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while not _answers(f"http://127.0.0.1:{stage.api}/v3/info"):
        give_up_on_the_dead(stage, children)
        if time.monotonic() > deadline:
            sys.exit(f"the server does not answer:\n{(stage.directory / 'dataplaneapi.log').read_text()}")
        time.sleep(0.02)


def give_up_on_the_dead(stage: Stage, children: dict[str, subprocess.Popen[bytes]]) -> None:
    for name, child in children.items():
        if child.poll() is not None:
            sys.exit(f"{name} ended:\n{(stage.directory / f'{name}.log').read_text()}")


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2):
            return True
    except urllib.error.HTTPError as error:
        error.close()
        return True
    except OSError:
        return False


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
