"""Run one browser, one HAProxy and one server for the tests of a file. Take a screenshot if a test fails."""

from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.acceptance.farm import Farm, farm_of
from tests.page import browser as browsers
from tests.page.browser import Operator

LINES = """\
    use_backend api if {{ path_beg /api }}
    default_backend shop

backend shop from plain
    server web1 127.0.0.1:{one} weight 20
    server web2 127.0.0.1:{two} weight 20

backend api from plain
    server a1 127.0.0.1:{one}
"""
OPERATORS = pytest.StashKey[list[Operator]]()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsers.browser() as running:
        yield running


@pytest.fixture(scope="module")
def farm(browser: Browser, tmp_path_factory: pytest.TempPathFactory, haproxy_version: str) -> Iterator[Farm]:
    with farm_of(Farm, tmp_path_factory.mktemp("farm"), haproxy_version, LINES, "one", "two") as found:
        yield found


@pytest.fixture(scope="module")
def haproxy_version() -> str:
    return "3.4"


@pytest.fixture
def operator(request: pytest.FixtureRequest, browser: Browser, farm: Farm) -> Iterator[Callable[..., Operator]]:
    """Return a function that opens a page of the server of the farm."""
    made: list[Operator] = []
    request.node.stash[OPERATORS] = made

    def make(**context: Any) -> Operator:
        made.append(Operator(browser, str(farm.sidecar.client.base_url), **context))
        return made[-1]

    yield make
    for each in made:
        each.context.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call" and report.failed:
        for number, each in enumerate(item.stash.get(OPERATORS, [])):
            each.keep_screenshot(f"{item.name}-{number}")
            report.sections.append((f"page of operator {number}", "\n".join([each.page.url, *each.errors])))
    return report
