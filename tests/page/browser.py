"""Drive a real browser with Playwright: Debian's Chromium, which get-program fetches."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.haproxy import binaries
from tests.haproxy.sidecar import USER

ARGUMENTS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync"
).split()
SCREENSHOTS = Path(__file__).parents[2] / "dist" / "screenshots"
# How long to wait for anything in a page, in milliseconds.
PATIENCE = 60_000


@contextmanager
def browser() -> Iterator[Browser]:
    """Start the browser. Skips the test if it is not available."""
    program = binaries.program("chromium")
    expect.set_options(timeout=PATIENCE)
    with _libraries(), sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        try:
            yield running
        finally:
            running.close()


@contextmanager
def _libraries() -> Iterator[None]:
    """Return the directory of the library that the driver of Playwright needs, for machines without this library."""
    with pytest.MonkeyPatch.context() as patch:
        try:
            ctypes.CDLL("libatomic.so.1")
        except OSError:
            patch.setenv("LD_LIBRARY_PATH", str(Path(binaries.program("libatomic.so.1")).parent))
        yield


class Operator:
    """A browser with one page of the server. `errors` are the errors on the console of the page."""

    def __init__(self, browser: Browser, url: str, **context: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **context})
        self.context.set_default_timeout(PATIENCE)
        self.page: Page = self.context.new_page()
        self.url, self.errors = url, list[str]()
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)

    def open(self, place: str = "") -> "Operator":
        self.page.goto(f"{self.url}/ui/{place}")
        return self

    def sign_in(self, name: str = USER[0], password: str = USER[1]) -> "Operator":
        self.page.get_by_label("Name").fill(name)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Sign in").click()
        return self

    def carry_out(self, verb: str) -> None:
        """Press the button with this text in the dialog of the plan, and wait until the dialog is closed."""
        dialog = self.page.get_by_role("dialog")
        dialog.get_by_role("button", name=verb, exact=True).click()
        dialog.wait_for(state="detached")

    def keep_screenshot(self, name: str) -> None:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png")
