"""Show the fleet on the page: a release with its stages, the nodes, and the actions on them."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.acceptance.test_fleet import Fleet
from tests.page.browser import Operator
from tests.page.test_page import TOO_WIDE, findings, show
from tests.until import until

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def fleet(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with Fleet(tmp_path_factory.mktemp("fleet")) as made:
        yield made


def enter(browser: Browser, fleet: Fleet, **context: Any) -> Operator:
    anna = Operator(browser, str(fleet.nodes[0].client.base_url), **context).open().sign_in()
    anna.page.get_by_role("link", name="Fleet").click()
    expect(anna.page.get_by_role("heading", name="Fleet")).to_be_visible()
    return anna


def test_a_release_stage_by_stage(browser: Browser, fleet: Fleet) -> None:
    lb1, *_ = fleet.nodes
    anna = enter(browser, fleet)
    page, dialog = anna.page, anna.page.get_by_role("dialog")
    current, nodes = page.get_by_role("region", name="Current release"), page.get_by_role("region", name="Nodes")
    expect(nodes.locator("tbody tr")).to_have_text([re.compile(f"{name}.*Good.*As released.*Present") for name in ("lb1", "lb2", "lb3")])
    page.get_by_role("button", name="Release from lb1 …").click()
    expect(dialog).to_contain_text("Change its configuration first.")
    expect(dialog.get_by_role("button", name="Release")).to_be_disabled()
    page.keyboard.press("Escape")
    weight = lb1.weight()
    lb1.set_weight(41)
    expect(page.get_by_role("alert")).to_contain_text("This node differs from its group")
    page.get_by_role("button", name="Release from lb1 …").click()
    dialog.get_by_label("Why").fill("more weight")
    dialog.get_by_label("Watch each node for").select_option("30m")
    anna.carry_out("Release")
    stages = current.get_by_role("list", name="Stages")
    expect(stages.locator("[aria-current]")).to_contain_text("Stage 1 In progress 0 of 1 node good: lb2")
    expect(nodes.locator("tbody tr").nth(1)).to_contain_text("Watched")
    page.get_by_role("button", name="Pause …").click()
    anna.carry_out("Pause")
    expect(stages.locator("[aria-current]")).to_contain_text("Paused")
    page.get_by_role("button", name="Resume …").click()
    anna.carry_out("Resume")
    page.get_by_role("button", name="Roll back …").click()
    expect(dialog).to_contain_text("All nodes go back to the text of release 1.")
    anna.carry_out("Roll back")
    expect(current).to_contain_text("Release 2 was rolled back: stopped by")
    fleet.all(3, weight)
    former = page.get_by_role("region", name="Former releases").locator("tbody tr")
    expect(former.first).to_contain_text("more weight")
    former.first.get_by_role("button", name="Release 2 again").click()
    dialog.get_by_label("Watch each node for").select_option("0s")
    anna.carry_out("Release")
    fleet.all(4, "41")
    expect(current).to_contain_text("3 of 3")
    assert anna.errors == []
    anna.context.close()


def test_an_edit_by_hand_is_discarded(browser: Browser, fleet: Fleet) -> None:
    lb1, *_ = fleet.nodes
    anna, weight = enter(browser, fleet), lb1.weight()
    lb1.set_weight(51)
    anna.page.get_by_role("button", name="Discard this node's text …").click()
    anna.carry_out("Discard it")
    expect(anna.page.get_by_role("alert")).to_have_count(0)
    until(lambda: lb1.weight() == weight)
    anna.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_nothing_in_the_fleet(browser: Browser, fleet: Fleet, scheme: str, width: int) -> None:
    anna = enter(browser, fleet, color_scheme=scheme, viewport={"width": width, "height": 844})
    page, found = anna.page, dict[str, list[str]]()
    expect(page.get_by_role("region", name="Nodes")).to_be_visible()
    found["view"] = findings(page) + page.evaluate(TOO_WIDE)
    page.get_by_role("button", name="Release from lb1 …").click()
    page.get_by_role("dialog").get_by_text("Change its configuration first.").wait_for()
    found["dialog"] = findings(page) + page.evaluate(TOO_WIDE.replace("html, main,", "html, main, dialog,"))
    page.keyboard.press("Escape")
    show(anna, "map")
    assert {name: each for name, each in found.items() if each} == {} and anna.errors == []
    anna.context.close()
