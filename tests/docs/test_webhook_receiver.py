"""The receiver of docs/events.md, beside the server and a real HAProxy, with the settings of that page."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
import yaml

from demo.children import start, stop
from tests.haproxy.process import SMALL, HAProxy, free_port
from tests.haproxy.sidecar import Sidecar
from tests.receiver import SECRET
from tests.rules.sources import CHECKOUT
from tests.until import until

PAGE = (CHECKOUT / "docs/events.md").read_text()
FILE = "/etc/haproxy/webhook.secret"


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    return str(found)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    file = tmp_path / "webhook.secret"
    file.write_text(f"{SECRET}\n")
    return file


@pytest.fixture
def receiver(tmp_path: Path, secret: Path) -> Iterator[tuple[str, Path]]:
    """Its address, and what it prints."""
    port, printed = free_port(), tmp_path / "printed"
    text = block("python").replace("9000", str(port)).replace(FILE, str(secret))
    process = start([sys.executable, "-c", text], printed)
    until(lambda: _answers(port) or process.poll() is not None)
    try:
        yield f"http://127.0.0.1:{port}/haproxy", printed
    finally:
        stop(process)


def _answers(port: int) -> bool:
    try:
        return httpx2.get(f"http://127.0.0.1:{port}/").status_code == 501
    except httpx2.TransportError:
        return False


def test_it_takes_what_the_server_signs_and_nothing_else(tmp_path: Path, secret: Path, receiver: tuple[str, Path]) -> None:
    url, printed = receiver
    ((given,),) = [yaml.safe_load(block("yaml"))["dataplaneapi"]["webhooks"]]
    assert given["secret_file"] == FILE and {"name", "url", "types", "object"} < set(given)
    webhook = given | {"url": url, "secret_file": str(secret), "object": "backend/*"}
    with HAProxy(tmp_path, SMALL) as haproxy, Sidecar(haproxy, dataplaneapi={"webhooks": [webhook]}) as sidecar:
        answer = sidecar.post("backends", {"name": "late"}, version=sidecar.version())
        assert answer.status_code in (201, 202), answer.text
        until(lambda: "dataplane.config backend/late" in printed.read_text())
    headers = {"webhook-id": "1", "webhook-timestamp": "1795399141", "webhook-signature": "v1,AAAA"}
    assert httpx2.post(url, content=b"{}", headers=headers).status_code == 401


def test_the_secret_is_made_as_the_page_says(secret: Path) -> None:
    (command,) = re.findall(r"`(echo whsec_.*?)`", PAGE)
    made = subprocess.run(command, shell=True, capture_output=True, text=True, check=True).stdout
    secret.write_text(made)
    from haproxy_native.webhooks.webhook import Webhook

    assert len(Webhook("a", "http://a", secret_file=str(secret)).keys()[0]) == 32
