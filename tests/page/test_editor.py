"""Edit a section as text: completions, HAProxy's messages while typing, the difference, and the commit."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from haproxy_native.editing import state_ring
from haproxy_native.text.document import Document
from tests.acceptance.farm import Farm
from tests.acceptance.quick import PLAIN, Quick
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import USER
from tests.page.browser import Operator
from tests.page.test_page import SHOP, findings, show

pytestmark = pytest.mark.e2e
Operators = Callable[..., Operator]
CORPUS = Path(__file__).parents[1] / "corpus"
SAME = """async (texts) => {
    const {sectionsOf, textOf, replaced} = await import("./sections.js"), {default: words} = await import("./words.js");
    const differing = (text) => sectionsOf(text, words.sections).filter((each) => replaced(text, each, textOf(text, each)) !== text);
    return texts.map((text) => [sectionsOf(text, words.sections).length, differing(text).map((each) => each.id)]);
}"""


def edit(operator: Operator, section: str) -> Locator:
    operator.page.get_by_role("link", name=section).click()
    return operator.page.get_by_role("textbox", name=f"Text of {section}")


def test_the_lines_are_offered_as_a_plan(browser: Browser, tmp_path: Path) -> None:
    with (
        HAProxy(tmp_path, (PLAIN + SHOP).format(site=free_port()), binary=binaries.newest()) as haproxy,
        Quick(haproxy) as sidecar,
    ):
        anna = Operator(browser, str(sidecar.client.base_url)).open().sign_in()
        anna.page.locator(".hint summary").click()
        anna.page.get_by_role("button", name="Review and add …").click()
        dialog, sent = anna.page.get_by_role("dialog"), list[str]()
        anna.page.on("request", lambda request: sent.append(f"{request.method} {request.url.removeprefix(anna.url)}"))
        expect(dialog.locator(".diff .added")).to_contain_text(["log ring@state-events", "log global", "ring state-events"])
        dialog.get_by_label("Roll back automatically unless confirmed").select_option("")
        expect(dialog.get_by_role("button", name="Add the lines")).to_be_enabled()
        anna.carry_out("Add the lines")
        expect(anna.page.locator(".hint")).to_have_count(0)
        assert state_ring.lines_to_add(Document.parse(sidecar.text())) == {}
        assert [each for each in sent if each.startswith("POST /v3/services/haproxy/configuration/raw?version=1")]
        (newest,) = sidecar.get("/v3/sidecar/history", limit=1).json()
        assert newest["message"] == "states of servers reach a ring"
        anna.context.close()


def test_what_is_not_edited_stays_to_the_letter(farm: Farm, operator: Operators) -> None:
    """Each section of each file in the corpus is shown and sent unchanged."""
    texts = [file.read_bytes().decode("utf-8", "replace") for file in sorted(CORPUS.rglob("*.cfg"))]
    texts = [text if text.endswith("\n") else f"{text}\n" for text in texts]
    found = operator().open().page.evaluate(SAME, texts)
    assert sum(count for count, _ in found) > len(texts)
    assert [differing for _, differing in found if differing] == []


def test_words_that_may_follow(farm: Farm, operator: Operators) -> None:
    anna = operator().open("#/configuration").sign_in()
    area, words, press = edit(anna, "frontend site"), anna.page.get_by_role("listbox"), anna.page.keyboard
    area.press("Control+End")
    press.press("Enter")
    press.type("use_")
    expect(words.get_by_role("option")).to_have_text(["use_backend"])
    press.press("Enter")
    press.type("s")
    expect(words.get_by_role("option")).to_have_text(["shop"])
    press.press("Tab")
    assert area.input_value().endswith("\n    use_backend shop "), "a line begins where the one above does"
    press.press("Enter")
    press.press("Control+Space")
    expect(words.get_by_role("option", name="acl", exact=True)).to_be_visible()
    assert area.get_attribute("aria-activedescendant") == "editor-word-0"
    assert findings(anna.page) == []
    press.press("ArrowDown")
    expect(words.locator("[aria-selected=true]")).to_have_id("editor-word-1")
    press.press("Escape")
    expect(words).to_have_count(0)
    press.type("mode")
    expect(words).to_have_count(0)
    press.press("Enter")
    press.press("Control+z")
    press.press("Tab")
    expect(area).not_to_be_focused()
    anna.page.get_by_role("button", name="Discard").click()
    expect(anna.page.get_by_role("status").get_by_text("Nothing is changed.")).to_be_visible()
    assert anna.errors == []


def test_what_haproxy_says_of_a_line(farm: Farm, operator: Operators) -> None:
    anna, before = operator().open("#/configuration").sign_in(), farm.sidecar.text()
    area, page = edit(anna, "backend shop"), anna.page
    area.fill(area.input_value() + "\n    balence roundrobin")
    expect(page.locator(".editor-mark.alert")).to_contain_text("unknown keyword 'balence'")
    below, mark = page.locator(".editor-below"), page.locator(".editor-mark.alert span")
    expect(below).to_contain_text("unknown keyword 'balence'")
    line, box = page.locator(".editor-mark u").bounding_box(), below.bounding_box()
    assert line and box and 0 <= box["y"] - (line["y"] + line["height"]) < 10, "it stands under the line in which one types"
    expect(mark).to_be_hidden()
    area.press("ArrowUp")
    expect(below).to_have_count(0)
    expect(mark).to_be_visible()
    area.press("ArrowDown")
    expect(below).to_be_visible()
    problem = page.get_by_role("listitem").filter(has_text="unknown keyword 'balence'")
    expect(problem).to_be_visible()
    expect(page.get_by_role("button", name="Review and commit …")).to_be_disabled()
    assert findings(page) == []
    problem.get_by_role("button").click()
    expect(area).to_be_focused()
    assert area.evaluate("area => area.value.slice(area.selectionStart, area.selectionEnd)") == "    balence roundrobin"
    page.keyboard.type("    balance roundrobin")
    expect(page.get_by_text("HAProxy accepts it, by a reload")).to_be_visible()
    expect(page.locator(".editor-mark")).to_have_count(0)
    assert farm.sidecar.text() == before, "a plan changes nothing"


def test_a_section_is_committed_and_waits(farm: Farm, operator: Operators) -> None:
    anna, sidecar = operator().open("#/configuration").sign_in(), farm.sidecar
    area, page = edit(anna, "backend shop"), anna.page
    before = area.input_value()
    area.fill(before.replace("weight 20", "weight 44"))
    expect(page.get_by_text("HAProxy accepts it, without a reload; 2 differences.")).to_be_visible()
    page.get_by_role("button", name="Review and commit …").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator(".diff .added")).to_contain_text(["weight 44", "weight 44"])
    dialog.get_by_label("Message").fill("größer")
    assert dialog.get_by_label("Roll back automatically").input_value() == "", "only where it is asked for"
    dialog.get_by_label("Roll back automatically").select_option("2m")
    anna.carry_out("Commit")
    strip = page.get_by_role("region", name="Unconfirmed change")
    expect(strip).to_contain_text("is not confirmed")
    (newest,) = sidecar.get("/v3/sidecar/history", limit=1).json()
    assert newest["message"] == "größer" and sidecar.get("backends/shop/servers/web1").json()["weight"] == 44
    expect(page.get_by_role("status").get_by_text("Nothing is changed.")).to_be_visible()
    strip.get_by_role("button", name="Roll back").click()
    anna.carry_out("Roll back")
    expect(area).to_have_value(before)
    assert sidecar.get("backends/shop/servers/web1").json()["weight"] == 20 and anna.errors == []


def test_what_others_change_meanwhile(farm: Farm, operator: Operators) -> None:
    anna, sidecar = operator().open("#/configuration").sign_in(), farm.sidecar
    area, page = edit(anna, "backend shop"), anna.page
    area.fill(area.input_value() + "\n    # mine")
    show(anna, "map")
    assert sidecar.put_server("a1", {"weight": 7}, "api", version=sidecar.version()).status_code == 200
    show(anna, "configuration/backend%20shop")
    expect(area).to_have_value(re.compile("# mine$"))
    expect(page.locator(".detail-head")).to_contain_text(f"version {sidecar.version()}")
    page.get_by_role("button", name="Review and commit …").click()
    anna.carry_out("Commit")
    assert "# mine" in sidecar.text() and sidecar.get("backends/api/servers/a1").json()["weight"] == 7
    expect(page.get_by_role("region", name="Unconfirmed change")).to_have_count(0)
    area.fill(area.input_value().replace("# mine", "# other"))
    assert sidecar.put_server("web1", {"weight": 8}, "shop", version=sidecar.version()).status_code == 200
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Somebody has changed this section meanwhile")
    expect(alert.locator(".added")).to_contain_text("weight 8")
    expect(page.get_by_role("button", name="Review and commit …")).to_be_disabled()
    alert.get_by_role("button", name="Use their text").click()
    expect(area).to_have_value(re.compile("weight 8(.|\n)*# mine"))
    assert sidecar.put_server("web1", {"weight": 20}, "shop", version=sidecar.version()).status_code == 200


def test_the_server_goes_away_while_one_types(farm: Farm, operator: Operators) -> None:
    anna = operator().open("#/configuration").sign_in()
    area, page = edit(anna, "backend shop"), anna.page
    text = area.input_value()
    farm.sidecar.kill()
    expect(page.get_by_role("alert")).to_contain_text("Disconnected")
    area.fill(text + "\n    # unfinished")
    expect(page.get_by_role("status").get_by_text("The server does not answer.")).to_be_visible()
    expect(page.get_by_role("button", name="Review and commit …")).to_be_disabled()
    farm.sidecar.start()
    expect(page.locator(".connection")).to_have_text("Live")
    expect(page.get_by_text("HAProxy accepts it")).to_be_visible()
    assert area.input_value().endswith("# unfinished")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_nothing(farm: Farm, operator: Operators, scheme: str, width: int) -> None:
    anna = operator(color_scheme=scheme, viewport={"width": width, "height": 844}).open().sign_in()
    page, found = anna.page, dict[str, list[str]]()
    for view in ("configuration", "configuration/none", "configuration/all", "configuration/backend%20shop"):
        show(anna, view)
        page.get_by_role("heading", name="Configuration").wait_for()
        page.wait_for_timeout(300)
        found[view] = findings(page)
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found[view].append("wider than the window")
    area = page.get_by_role("textbox", name="Text of backend shop")
    area.press("Control+End")
    area.press("Enter")
    page.keyboard.type("wrong")
    page.locator(".editor-mark").wait_for()
    area.press("Control+Space")
    found["wrong"] = findings(page)
    assert {view: each for view, each in found.items() if each} == {}
    assert anna.errors == []


def test_who_may_not_read_it(browser: Browser, tmp_path: Path) -> None:
    users = [{"name": USER[0], "password": USER[1], "insecure": True, "role": "admin"}]
    users += [{"name": "sam", "password": USER[1], "insecure": True, "role": "shop"}]
    api = {"user": users, "roles": {"shop": [{"objects": "backend/shop", "may": ["read", "change"]}]}}
    config = (PLAIN + SHOP).format(site=free_port())
    with HAProxy(tmp_path, config, binary=binaries.newest()) as haproxy, Quick(haproxy, dataplaneapi=api) as sidecar:
        sam = Operator(browser, str(sidecar.client.base_url)).open("#/configuration").sign_in("sam")
        expect(sam.page.get_by_text("You may not see the configuration")).to_be_visible()
        sam.context.close()


def test_a_text_outlives_a_session_that_ends(farm: Farm, operator: Operators) -> None:
    """After a token is revoked or expires, the text stays for its user, and for nobody else."""
    anna = operator().open("#/configuration").sign_in()
    area, page = edit(anna, "backend shop"), anna.page
    area.fill(area.input_value() + "\n    # to be kept")
    expect(page.get_by_role("button", name="Review and commit …")).to_be_enabled()
    for token in farm.sidecar.get("/v3/sidecar/tokens").json():
        farm.sidecar.delete(f"/v3/sidecar/tokens/{token['id']}")
    expect(page.get_by_label("Password")).to_be_visible()
    anna.sign_in()
    again = page.get_by_role("textbox", name="Text of backend shop")
    expect(again).to_be_visible()
    assert "# to be kept" in again.input_value()
    page.locator(".menu summary").last.click()
    page.get_by_role("button", name="Sign out").click()
    anna.sign_in()
    expect(again).to_be_visible()
    assert "# to be kept" not in again.input_value()
