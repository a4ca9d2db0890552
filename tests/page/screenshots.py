"""Take the screenshots in docs/images/*.png of the page of the demo in a real browser, with steady traffic, for `make screenshots`.

The pictures of two runs differ only in measurements: a few pixels of the plots, and sessions since the start.
"""

import itertools
import tempfile
import threading
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

from playwright.sync_api import Page

from demo.__main__ import wait_until_it_answers
from demo.children import Child, start, stop
from demo.stage import Stage, prepare
from tests.haproxy.binaries import newest
from tests.haproxy.sidecar import COMMAND
from tests.page.browser import Operator, browser

IMAGES = Path(__file__).parents[2] / "docs" / "images"
USER = ("admin", "demo")
SIZE = {"width": 1280, "height": 760}
# How many seconds of traffic there are before the first picture, and how many requests a second.
WARM, RATE = 40, 20
PAGES = (8081, 8082)


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="dataplane-screenshots-") as directory:
        stage = prepare(Path(directory), newest(), PAGES)
        children: list[Child] = []
        try:
            children.append(start(stage.haproxy_command, stage.directory / "haproxy.log"))
            children.append(start([str(COMMAND), "-f", str(stage.settings)], stage.directory / "dataplaneapi.log"))
            wait_until_it_answers(stage, {})
            ended = threading.Event()
            threading.Thread(target=send_traffic, args=(stage, ended), daemon=True).start()
            take(stage)
            ended.set()
        finally:
            for child in reversed(children):
                stop(child)


def send_traffic(stage: Stage, ended: threading.Event) -> None:
    began = time.monotonic()
    for number in itertools.count():
        if ended.wait(max(0, began + number / RATE - time.monotonic())):
            return
        with suppress(OSError, urllib.error.URLError):
            urllib.request.urlopen(f"http://127.0.0.1:{stage.site}/", timeout=2).read()


def take(stage: Stage) -> None:
    with browser() as running:
        for scheme in ("light", "dark"):
            operator = Operator(running, f"http://127.0.0.1:{stage.api}", viewport=SIZE, color_scheme=scheme)
            operator.open("#/map/backend/pages").sign_in(*USER)
            operator.page.wait_for_timeout(WARM * 1000)
            keep(operator.page, f"map-{scheme}")
            if scheme == "light":
                for picture in (plan, request, configuration, create):
                    picture(operator.page, stage)
                    keep(operator.page, picture.__name__)
            operator.context.close()


def keep(page: Page, name: str) -> None:
    # Moves the pointer away from all elements.
    page.mouse.move(0, 0)
    page.screenshot(path=IMAGES / f"{name}.png", animations="disabled")


def plan(page: Page, stage: Stage) -> None:
    page.get_by_role("link", name="two", exact=True).click()
    page.get_by_role("button", name="Drain …").click()
    page.get_by_role("dialog").get_by_text("stay up").wait_for()


def request(page: Page, stage: Stage) -> None:
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Request").click()
    page.get_by_label("URL").fill(f"http://127.0.0.1:{stage.site}/cart")
    page.get_by_role("button", name="Ask HAProxy").click()
    page.get_by_role("list", name="Path of the request").wait_for()


def configuration(page: Page, stage: Stage) -> None:
    page.get_by_role("link", name="Configuration").click()
    page.get_by_role("link", name="backend pages").click()
    text = page.get_by_role("textbox", name="Text of backend pages")
    text.fill(text.input_value().replace("balance roundrobin", "balance roundrobbin"))
    page.locator(".editor-mark").wait_for()


def create(page: Page, stage: Stage) -> None:
    page.get_by_role("link", name="Map").click()
    page.get_by_role("button", name="Create backend …").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("name", exact=True).first.fill("images")
    dialog.get_by_label("mode", exact=True).select_option("http")
    dialog.get_by_label("balance.algorithm").select_option("leastconn")
    server = dialog.get_by_role("group", name="First server")
    for label, value in (("name", "img1"), ("address", "10.0.0.7"), ("port", "80")):
        server.get_by_label(label).fill(value)
    dialog.locator(".diff .added").last.wait_for()
    page.wait_for_timeout(1000)


if __name__ == "__main__":
    main()
