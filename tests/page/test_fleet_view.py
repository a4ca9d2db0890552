"""Show the fleet on the page: a release with its stages, the nodes, differences, defaults, and the actions on them."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.acceptance.fleets import FLEET, Fleet, number
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
    expect(dialog).to_contain_text("Change it first.")
    expect(dialog.get_by_role("button", name="Release")).to_be_disabled()
    page.keyboard.press("Escape")
    weight = lb1.weight()
    lb1.set_weight(41)
    expect(page.get_by_role("alert")).to_contain_text("This node differs from its group")
    page.get_by_role("button", name="Release from lb1 …").click()
    dialog.get_by_label("Message").fill("more weight")
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
    expect(dialog).to_contain_text("All nodes are rolled back to the configuration of release 1.")
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
    anna.page.get_by_role("button", name="Discard the changes …").click()
    anna.carry_out("Discard")
    expect(anna.page.get_by_role("alert")).to_have_count(0)
    until(lambda: lb1.weight() == weight)
    anna.context.close()


def test_a_node_is_held_and_follows_again(browser: Browser, fleet: Fleet) -> None:
    lb1, lb2, _ = fleet.nodes
    anna, bert = enter(browser, fleet), Operator(browser, str(lb2.client.base_url)).open("#/fleet").sign_in()
    page, alert = anna.page, anna.page.get_by_role("alert")
    page.get_by_role("button", name="Hold lb1").click()
    page.get_by_role("dialog").get_by_label("Message").fill("größer")
    anna.carry_out("Hold")
    expect(alert).to_contain_text("This node is held")
    expect(alert).to_contain_text(re.compile("^.*held by .*admin: größer\\.", re.IGNORECASE))
    expect(alert.get_by_role("button")).to_have_text(["Follow releases …"])
    assert lb1.phase() == "held"
    theirs = bert.page.get_by_role("region", name="Nodes").locator("tbody tr")
    expect(theirs.first).to_contain_text("Held")
    expect(theirs.first).to_contain_text("admin: größer")
    expect(theirs.get_by_role("button")).to_have_count(1)
    expect(bert.page.get_by_text("open the page of that node")).to_be_visible()
    page.get_by_role("button", name="Follow releases …").click()
    anna.carry_out("Follow")
    expect(alert).to_have_count(0)
    until(lambda: lb1.phase() == "good")
    assert anna.errors == bert.errors == []
    anna.context.close()
    bert.context.close()


def test_what_a_node_and_a_release_change(browser: Browser, fleet: Fleet) -> None:
    lb1, _, lb3 = fleet.nodes
    first, anna = number(lb1), enter(browser, fleet)
    page, difference = anna.page, anna.page.get_by_role("region", name="Difference")
    lb3.set_weight(61)
    expect(page.get_by_role("region", name="Nodes").locator("tbody tr").nth(2)).to_contain_text("Drifted")
    until(lambda: bool(lb1.difference("lb3")))
    page.get_by_role("link", name="Difference of lb3").click()
    expect(difference).to_contain_text(f"lb3 compared with release {first}")
    expect(difference.locator(".added")).to_contain_text("weight 61")
    assert lb3.adopt("store").status_code == 200
    expect(difference).to_contain_text("haproxy.cfg is the same.")
    difference.get_by_role("link", name="Close").click()
    expect(difference).to_have_count(0)
    lb1.set_weight(62)
    assert lb1.release().status_code == 202
    fleet.all(first + 1, "62")
    expect(page.get_by_role("heading", name=f"Release {first + 1}", exact=True)).to_be_visible()
    page.get_by_role("link", name="Show the difference", exact=True).click()
    expect(difference).to_contain_text(f"Release {first + 1} compared with release {first}")
    expect(difference.locator(".added")).to_contain_text("weight 62")
    assert anna.errors == []
    anna.context.close()


def test_the_defaults_for_releases(browser: Browser, fleet: Fleet) -> None:
    lb1, *_ = fleet.nodes
    anna, policy = enter(browser, fleet), f"{FLEET}/policy"
    page, dialog = anna.page, anna.page.get_by_role("dialog")
    before, shown = lb1.get(policy).json(), page.get_by_role("region", name="Defaults for releases")
    expect(shown).to_contain_text("1, 25%, 100%")
    shown.get_by_role("button", name="Change …").click()
    expect(dialog).to_contain_text("Nothing is changed.")
    dialog.get_by_label("Watch each node for").fill("5m")
    dialog.get_by_label("Roll back above errors, in percent").fill("many")
    expect(dialog).to_contain_text("Enter the errors as a percentage")
    dialog.get_by_label("Roll back above errors, in percent").fill("2")
    expect(dialog.locator(".changes .new")).to_have_text(["5m", "2"])
    anna.carry_out("Change")
    expect(shown).to_contain_text("5 min")
    expect(shown).to_contain_text("at most 2 % errors")
    after = lb1.get(policy).json()
    assert (after["bake"], after["guard"]["errors"], after["stages"]) == ("300s", 2, before["stages"])
    lb1.set_weight(63)
    expect(page.get_by_role("alert")).to_contain_text("This node differs from its group")
    page.get_by_role("button", name="Release from lb1 …").click()
    expect(dialog.get_by_label("Watch each node for")).to_contain_text("the default, 5 min")
    expect(dialog.get_by_label("Roll back above errors, in percent")).to_have_value("2")
    dialog.get_by_label("Roll back above errors, in percent").fill("")
    expect(dialog).to_contain_text("Change the default to release without a guard.")
    page.keyboard.press("Escape")
    assert lb1.put(policy, before).status_code == 200 and lb1.adopt("store").status_code == 200
    assert anna.errors == []
    anna.context.close()


def test_a_role_that_only_reads_the_fleet(browser: Browser, fleet: Fleet) -> None:
    lb1, _, lb3 = fleet.nodes
    weight = lb3.weight()
    lb1.stop()
    lb1.add_users({"rita": [{"objects": "fleet/*", "may": ["read"]}]})
    lb1.start()
    lb3.set_weight(64)
    rita = Operator(browser, str(lb1.client.base_url)).open("#/fleet").sign_in("rita", "rita")
    main = rita.page.get_by_role("main")
    expect(main.get_by_role("region", name="Nodes").locator("tbody tr").nth(2)).to_contain_text("Differs")
    for name in ("Release from lb1 …", "Hold lb1", "Change …", "Show the difference"):
        expect(main.get_by_role("button", name=name)).to_be_disabled()
    for lacks in ("may not create fleet/release", "may not create fleet/node", "may not change fleet/release", "may not read everything"):
        expect(main.locator(".lacks").filter(has_text=lacks).first).to_be_visible()
    expect(main.get_by_role("link", name="Difference of lb3")).to_have_count(0)
    assert rita.errors == [], "not even a call that is refused"
    rita.context.close()
    assert lb3.adopt("store").status_code == 200
    until(lambda: lb3.weight() == weight)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_nothing_in_the_fleet(browser: Browser, fleet: Fleet, scheme: str, width: int) -> None:
    lb1, *_ = fleet.nodes
    first, weight = number(lb1), 70 + width % 11 + len(scheme)
    lb1.set_weight(weight)
    assert lb1.release().status_code == 202
    fleet.all(first + 1, str(weight))
    anna = enter(browser, fleet, color_scheme=scheme, viewport={"width": width, "height": 844})
    page, found = anna.page, dict[str, list[str]]()
    expect(page.get_by_role("region", name="Nodes")).to_be_visible()
    found["view"] = findings(page) + page.evaluate(TOO_WIDE)
    page.get_by_role("button", name="Release from lb1 …").click()
    page.get_by_role("dialog").get_by_text("Change it first.").wait_for()
    dialog = TOO_WIDE.replace("html, main,", "html, main, dialog,")
    found["release"] = findings(page) + page.evaluate(dialog)
    page.keyboard.press("Escape")
    page.get_by_role("region", name="Defaults for releases").get_by_role("button", name="Change …").click()
    page.get_by_role("dialog").get_by_text("Nothing is changed.").wait_for()
    found["defaults"] = findings(page) + page.evaluate(dialog)
    page.keyboard.press("Escape")
    show(anna, f"fleet/releases/{first + 1}")
    page.get_by_role("region", name="Difference").locator(".diff").wait_for()
    found["difference"] = findings(page) + page.evaluate(TOO_WIDE)
    page.get_by_role("button", name="Hold lb1").click()
    page.get_by_role("dialog").get_by_text("is in no release until").wait_for()
    found["hold"] = findings(page) + page.evaluate(dialog)
    page.get_by_role("dialog").get_by_role("button", name="Hold", exact=True).click()
    page.get_by_text("This node is held").wait_for()
    found["held"] = findings(page) + page.evaluate(TOO_WIDE)
    page.get_by_role("button", name="Follow releases …").click()
    anna.carry_out("Follow")
    show(anna, "map")
    assert {name: each for name, each in found.items() if each} == {} and anna.errors == []
    anna.context.close()
