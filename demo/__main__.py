"""`python -m demo`: start HAProxy and the server, print what to try, and stop both on Ctrl-C.

HAPROXY_BIN names the binary; `make demo` asks tests/tools/get-haproxy for it.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType
from typing import NoReturn

from demo.children import die_with_parent, start, stop
from demo.stage import API, DAYS_LEFT, SITE, Stage, prepare
from demo.traffic import send_forever

SECONDS_TO_START = 120.0
WELCOME = """\
http://127.0.0.1:{stage.api}/ is the page. Users, each with the password demo: admin, olga (operator), vera (viewer).
On it: shop_stable has a server that is down, Splits sends one request in ten to shop_next, Certificates shows one that expires
in {days} days, Ctrl+K finds everything. Sign in as vera in a private window to see what a viewer may not do.

HAProxy serves http://127.0.0.1:{stage.site}/ ; the API answers at http://127.0.0.1:{stage.api}/v3.
The files: {stage.directory}. Three things to try in another terminal; none of them changes anything:

  curl -s http://127.0.0.1:{stage.site}/ http://127.0.0.1:{stage.site}/

  curl -s -u admin:demo {stage.url}/backends/pages/servers

  curl -s -u admin:demo {stage.url}/raw | sed 's/weight 100/weight 1/' | \\
    curl -s -u admin:demo -H 'Content-Type: text/plain' --data-binary @- http://127.0.0.1:{stage.api}/v3/sidecar/plan

The third asks what other weights would do: two words of the file, two commands, no reload. The tour in README.md makes such changes;
every call is documented at http://127.0.0.1:{stage.api}/v3/docs (export AUTH=admin:demo, and copy). Ctrl-C stops both.
"""
TAKEN = """\
Port {wanted} is taken, so {what} uses {port} instead: replace it in what the README says.
"""


def main() -> None:
    die_with_parent()
    # A shell starts what is in its background with SIGINT ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
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
        send_forever(stage.shop)
        print(WELCOME.format(stage=stage, days=DAYS_LEFT) + moved(stage), end="", flush=True)
        while True:
            give_up_on_the_dead(stage, children)
            time.sleep(0.5)
    finally:
        for child in reversed(children.values()):
            stop(child)


def moved(stage: Stage) -> str:
    """A line for each well-known port that was taken."""
    ports = (("the site", SITE, stage.site), ("the API", API, stage.api))
    return "".join(TAKEN.format(what=what, wanted=wanted, port=port) for what, wanted, port in ports if port != wanted)


def wait_until_it_answers(stage: Stage, children: dict[str, subprocess.Popen[bytes]]) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while not _answers(stage.socket):
        give_up_on_the_dead(stage, children)
        if time.monotonic() > deadline:
            sys.exit(f"the server does not answer:\n{(stage.directory / 'dataplaneapi.log').read_text()}")
        time.sleep(0.02)


def give_up_on_the_dead(stage: Stage, children: dict[str, subprocess.Popen[bytes]]) -> None:
    for name, child in children.items():
        if child.poll() is not None:
            sys.exit(f"{name} ended:\n{(stage.directory / f'{name}.log').read_text()}")


def _answers(path: Path) -> bool:
    """Return whether the server answers on its Unix socket. On the port, another demo may answer that was faster to take it."""
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(2)
            client.connect(str(path))
            client.sendall(b"GET /livez HTTP/1.0\r\n\r\n")
            return bool(client.recv(1))
    except OSError:
        return False


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
