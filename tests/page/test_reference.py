"""Use the API reference in a browser: find an operation, read a real example, and run the copied command."""

import os
import subprocess
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.acceptance.farm import Farm
from tests.haproxy.sidecar import USER
from tests.page.browser import Operator

pytestmark = pytest.mark.e2e


@pytest.fixture
def reader(operator: Callable[..., Operator]) -> Operator:
    found = operator()
    found.page.goto(f"{found.url}/v3/docs")
    return found


def command(reader: Operator, phrase: str, id_: str) -> str:
    """The command of the operation that a phrase finds."""
    page = reader.page
    page.get_by_placeholder("Filter by tag").fill(phrase)
    block = page.locator(f'[id$="-{id_}"]')
    block.locator(".opblock-summary-control").click()
    return block.locator(".command pre").inner_text()


def run(text: str) -> str:
    environment = {**os.environ, "AUTH": ":".join(USER)}
    return subprocess.run(["bash", "-c", text], env=environment, capture_output=True, text=True, check=True, timeout=60).stdout


def test_tasks_come_with_a_sentence(reader: Operator) -> None:
    expect(reader.page.locator(".opblock-tag")).to_have_count(24)
    expect(reader.page.get_by_text("and drains that wait for sessions to end")).to_be_visible()
    assert reader.errors == []


def test_a_command_runs_as_copied(reader: Operator, farm: Farm) -> None:
    """A read, a write with a version and a body, and an upload."""
    assert '"shop"' in run(command(reader, "list backends", "getBackends"))
    assert '"name":"two"' in run(command(reader, "create mailers", "createMailersSection")).replace(" ", "")
    assert farm.sidecar.get("mailers_section/two").status_code == 200
    assert "walk.map" in run(command(reader, "storage/maps post", "createStorageMapFile"))
    assert farm.sidecar.get("/v3/services/haproxy/storage/maps/walk.map").text == "a 1\n"
    assert reader.errors == []


def test_a_write_shows_what_was_sent_and_answered(reader: Operator) -> None:
    text = command(reader, "add server backend", "createServerBackend")
    assert "-X POST" in text and '"s3"' in text
    block = reader.page.locator('[id$="-createServerBackend"]')
    expect(block.locator(".body-param__example, .body-param-content-type + div").first).to_contain_text('"s3"')
    expect(block.locator(".responses-wrapper")).to_contain_text('"name": "s3"')
    assert "Add a server to a backend." not in block.inner_text(), "the summary is not repeated"
