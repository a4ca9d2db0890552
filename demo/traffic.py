"""Send light traffic to the demo's shop: a few requests a second, some for a page that does not exist."""

import threading
import urllib.error
import urllib.request
from contextlib import suppress

EACH = 0.25
# Every so many requests, one is for a missing page.
MISSING_EVERY = 12


def send_forever(port: int) -> None:
    """Send requests from a thread that ends with the process. Return at once."""
    threading.Thread(target=_send, args=(f"http://127.0.0.1:{port}",), daemon=True).start()


def _send(url: str) -> None:
    pause, count = threading.Event(), 0
    while not pause.wait(EACH):
        count += 1
        path = "/missing" if count % MISSING_EVERY == 0 else "/cart"
        with suppress(OSError, urllib.error.URLError), urllib.request.urlopen(url + path, timeout=5) as response:
            response.read()
