"""`make screenshots`: writes docs/images/*.png, taken of the demo's page in a real browser, with some traffic and a change that waits."""

import tempfile
import threading
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

from demo.__main__ import wait_until_it_answers
from demo.children import Child, start, stop
from demo.stage import Stage, prepare
from tests.haproxy.binaries import newest
from tests.haproxy.sidecar import COMMAND
from tests.page.browser import Operator, browser

IMAGES = Path(__file__).parents[2] / "docs" / "images"
USER = ("admin", "demo")
SIZE = {"width": 1280, "height": 760}
# Traffic before the first picture, in seconds.
WARM = 35


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="dataplane-screenshots-") as directory:
        stage = prepare(Path(directory), newest())
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
    while not ended.wait(0.03):
        with suppress(OSError, urllib.error.URLError):
            urllib.request.urlopen(f"http://127.0.0.1:{stage.site}/", timeout=2).read()


def take(stage: Stage) -> None:
    with browser() as running:
        for scheme in ("light", "dark"):
            operator = Operator(running, f"http://127.0.0.1:{stage.api}", viewport=SIZE, color_scheme=scheme)
            operator.open("#/map/backend/pages").sign_in(*USER)
            page = operator.page
            page.wait_for_timeout(WARM * 1000)
            page.screenshot(path=IMAGES / f"map-{scheme}.png")
            if scheme == "light":
                page.get_by_role("link", name="two", exact=True).click()
                page.get_by_role("button", name="Drain …").click()
                page.get_by_role("dialog").get_by_text("stay up").wait_for()
                page.screenshot(path=IMAGES / "plan.png")
            operator.context.close()


if __name__ == "__main__":
    main()
