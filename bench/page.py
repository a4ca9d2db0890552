"""Measure the page with 5,000 servers in a real browser: when it is usable, when a failed server is visible, and the cost of five open
pages.
"""

import os
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median

import pytest
from playwright.sync_api import Browser, expect

from bench.plan import Effort
from tests.acceptance.farm import Farm, farm_of
from tests.haproxy.process import free_port
from tests.page.browser import Operator, browser

VERSION = "3.4"
# How HAProxy's states are known.
SOURCES = GLANCES, RINGS = ("glances", "a ring")
# View, and a row of it that holds states.
VIEWS = {"map": "a.row .row-sub", "servers": "tbody tr[data-index]"}
USABLE, COST = "page, usable: {}", "five pages, of a core: {}"
DEATH = "page, a death is seen: {}"
ROWS = (*(row.format(view) for row in (USABLE, COST) for view in VIEWS), *(DEATH.format(source) for source in SOURCES))
PAGES = 5
# Between two checks of the server that dies.
CHECKED = 0.1
BACKENDS = "".join(
    f"\nbackend farm{number} from plain\n" + "".join(f"    server node{each} 127.0.0.1:1 weight {each + 1}\n" for each in range(10))
    for number in range(500)
)
MORTAL = """
backend mortal from plain
    server one 127.0.0.1:{port} check inter 100ms fall 1 rise 1
"""
RING = """
ring state-events
    format raw
    maxlen 1024
    size 1048576
"""
LOG = "log ring@state-events format raw local0 notice"
IS_SHOWN = "selector => [...document.querySelectorAll(selector)].some(each => /up/i.test(each.textContent))"
SEES_A_WORD = "([selector, word]) => document.querySelector(selector)?.textContent.includes(word)"


class Mortal:
    """A server that accepts connections, until it dies."""

    def __init__(self) -> None:
        self.port = free_port()

    def live(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def die(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    @staticmethod
    def _accept(listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                listener.accept()[0].close()


def of_page(work: Effort) -> dict[str, float]:
    """No rows where a browser or that HAProxy is missing."""
    rows: dict[str, float] = {}
    with suppress(pytest.skip.Exception), browser() as running:
        for source in SOURCES:
            mortal = Mortal()
            with tempfile.TemporaryDirectory(prefix="bench-") as directory, beside_5000(Path(directory), source, mortal) as farm:
                rows[DEATH.format(source)] = _deaths(running, farm, mortal, work)
                if source == GLANCES:
                    rows |= {USABLE.format(view): _usable(running, farm, view, work) for view in VIEWS}
                    rows |= {COST.format(view): _cost(running, farm, view, work) for view in VIEWS}
    return rows


@contextmanager
def beside_5000(directory: Path, source: str, mortal: Mortal) -> Iterator[Farm]:
    mortal.live()
    lines, settings = "    default_backend farm0\n" + BACKENDS + MORTAL.format(port=mortal.port), ""
    if source == RINGS:
        lines, settings = lines.replace(" from plain\n", " from plain\n    log global\n") + RING, LOG
    with farm_of(Farm, directory, VERSION, lines, settings=settings) as farm:
        yield farm


def signed_in(running: Browser, farm: Farm, view: str) -> Operator:
    operator = Operator(running, str(farm.sidecar.client.base_url)).open().sign_in()
    operator.page.locator("a.row").first.wait_for()
    show(operator, view)
    return operator


def show(operator: Operator, view: str) -> None:
    operator.page.evaluate("place => { location.hash = place }", f"#/{view}")


def _usable(running: Browser, farm: Farm, view: str, work: Effort) -> float:
    operator, seconds = signed_in(running, farm, view), list[float]()
    for _ in range(work.views):
        began = time.monotonic()
        operator.page.reload(wait_until="commit")
        operator.page.wait_for_function(IS_SHOWN, arg=VIEWS[view])
        seconds.append(time.monotonic() - began)
    operator.context.close()
    return median(seconds)


def _deaths(running: Browser, farm: Farm, mortal: Mortal, work: Effort) -> float:
    """The slowest but one."""
    operator, seconds = signed_in(running, farm, "map/backend/mortal/server/one"), list[float]()
    for _ in range(2 * work.views):
        operator.page.wait_for_function(SEES_A_WORD, arg=[".detail-head", "Up"])
        began = time.monotonic()
        mortal.die()
        operator.page.wait_for_function(SEES_A_WORD, arg=[".detail-head", "Down"])
        seconds.append(time.monotonic() - began)
        mortal.live()
    operator.context.close()
    return sorted(seconds)[-2]


def _cost(running: Browser, farm: Farm, view: str, work: Effort) -> float:
    pages = [signed_in(running, farm, view) for _ in range(PAGES)]
    for each in pages:
        expect(each.page.locator(".connection")).to_have_text("Live")
    pid = farm.sidecar.process.pid
    time.sleep(work.rest)
    began, used = time.monotonic(), processor_seconds(pid)
    time.sleep(4 * work.rest + 1)
    share = (processor_seconds(pid) - used) / (time.monotonic() - began)
    for each in pages:
        each.context.close()
    return share


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
