"""Test the whole page: accessibility with axe, use by keyboard, restarts, two operators, roles, and sizes of screens."""

import socket
from collections.abc import Callable
from pathlib import Path

import axe_playwright_python
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.acceptance.farm import Farm, farm_of
from tests.acceptance.quick import PLAIN, SERVICES, Quick
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import USER
from tests.page.browser import Operator

pytestmark = pytest.mark.e2e
SHOP = """\
frontend site from plain
    bind 127.0.0.1:{site}
    default_backend shop

backend shop from plain
    server web1 127.0.0.1:1
"""
AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
VIEWS = ("map", "map/frontend/site", "map/backend/shop", "map/backend/shop/server/web1", "servers", "history", "reloads", "workers")
VIEWS += ("certificates", "drift", "map/backend/none", "request", "splits", "lists", "tests", "events", "tables")


# What is wider than its place: no table of a view has to be moved sideways, on a phone neither.
TOO_WIDE = """() => [...document.querySelectorAll('html, main, .detail, .scroll, .table-box')]
    .filter(each => each.scrollWidth > each.clientWidth + 1).map(each => `too wide: ${each.tagName} ${each.className}`)"""


def findings(page: Page) -> list[str]:
    page.evaluate(AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [f"{each['id']}: {node['html'][:200]}" for each in found["violations"] for node in each["nodes"]]


def show(operator: Operator, view: str) -> None:
    operator.page.evaluate("view => { location.hash = `#/${view}` }", view)
    operator.page.wait_for_timeout(400)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 320])
def test_axe_finds_nothing(farm: Farm, operator: Callable[..., Operator], scheme: str, width: int) -> None:
    anna = operator(color_scheme=scheme, viewport={"width": width, "height": 844}).open()
    anna.page.get_by_label("Name").wait_for()
    assert findings(anna.page) == []
    anna.sign_in()
    farm.sidecar.put(f"{SERVICES}/runtime/backends/shop/servers/web2", {"admin_state": "maint"})
    answer = farm.sidecar.put_server(
        "web1", {"weight": 9 + width % 7 + len(scheme)}, "shop", confirm="300s", version=farm.sidecar.version()
    )
    expect(anna.page.get_by_role("region", name="Unconfirmed change")).to_be_visible()
    found = {}
    for view in VIEWS:
        show(anna, view)
        found[view] = findings(anna.page)
        found[view] += anna.page.evaluate(TOO_WIDE)
    assert {view: each for view, each in found.items() if each} == {}
    show(anna, "events")
    events = anna.page.get_by_role("list", name="Events")
    for state, word in (("ready", "In service"), ("maint", "Maintenance")):
        farm.sidecar.put(f"{SERVICES}/runtime/backends/shop/servers/web2", {"admin_state": state})
        expect(events.get_by_role("link", name=word).first).to_contain_text("shop/web2")
    expect(events.get_by_role("link", name="by admin").first).to_contain_text("weight")
    show(anna, "map/backend/shop/server/web1")
    expect(anna.page.get_by_role("img", name="Requests, the last 2 min")).to_be_visible()
    anna.page.get_by_role("group", name="Time range").get_by_role("button", name="1 h").click()
    expect(anna.page.get_by_role("img", name="Queue, the last 1 h")).to_be_visible()
    anna.page.get_by_role("button", name="Drain …").click()
    anna.page.get_by_role("dialog").get_by_text("stay up").or_(anna.page.get_by_role("dialog").get_by_text("No other server")).wait_for()
    assert findings(anna.page) == []
    farm.sidecar.post(answer.headers["Location"] + "/confirm")
    assert anna.errors == []


def test_the_keyboard_alone(farm: Farm, operator: Callable[..., Operator]) -> None:
    anna = operator().open()
    press = anna.page.keyboard
    anna.page.get_by_label("Name").wait_for()
    press.type(USER[0])
    press.press("Tab")
    press.type(USER[1])
    press.press("Enter")
    expect(anna.page.locator(".connection")).to_have_text("Live")
    press.press("g")
    press.press("s")
    expect(anna.page.get_by_role("heading", name="Servers")).to_be_visible()
    press.press("/")
    press.type("web2")
    expect(anna.page.locator("tbody tr[data-index]")).to_have_count(1)
    press.press("Escape")
    press.press("g")
    press.press("m")
    anna.page.locator("a.row").first.focus()
    press.press("ArrowRight")
    press.press("ArrowDown")
    expect(anna.page.locator("a.row[aria-current]")).to_contain_text("api")
    press.press("Home")
    expect(anna.page.locator("a.row[aria-current]")).to_contain_text("shop")
    press.press("Escape")
    press.press("g")
    press.press("q")
    expect(anna.page.get_by_label("URL")).to_be_focused()
    press.type("http://site/api/cart")
    press.press("Enter")
    expect(anna.page.get_by_role("list", name="Path of the request")).to_contain_text("a1")
    press.press("Escape")
    press.press("g")
    press.press("e")
    expect(anna.page.get_by_role("heading", name="Configuration")).to_be_visible()
    press.press("?")
    expect(anna.page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    press.press("Escape")
    expect(anna.page.get_by_role("dialog")).to_have_count(0)
    assert anna.errors == []


def test_the_server_restarts_under_an_open_page(farm: Farm, operator: Callable[..., Operator]) -> None:
    anna = operator().open("#/map/backend/shop").sign_in()
    expect(anna.page.locator(".connection")).to_have_text("Live")
    expect(anna.page.locator("[data-object='backend/shop/server/web1']")).to_be_visible()
    farm.sidecar.kill()
    expect(anna.page.get_by_role("alert")).to_contain_text("Disconnected")
    assert anna.page.locator("[data-object='backend/shop/server/web1']").is_visible(), "what was known stays"
    farm.sidecar.haproxy.ask("set server shop/web1 state drain")
    farm.sidecar.start()
    expect(anna.page.locator(".connection")).to_have_text("Live")
    expect(anna.page.locator("[data-object='backend/shop/server/web1']")).to_contain_text("Draining")
    expect(anna.page.get_by_role("alert")).to_have_count(0)
    farm.sidecar.haproxy.ask("set server shop/web1 state ready")
    expect(anna.page.locator("[data-object='backend/shop/server/web1']")).to_contain_text("Up")


def test_tabs_share_one_sign_in(farm: Farm, operator: Callable[..., Operator]) -> None:
    """Also a tab that stood at the sign-in form, and signing out."""
    anna = operator()
    anna.page.goto(anna.url)
    first, second = anna.page, anna.context.new_page()
    second.goto(anna.url)
    expect(second.get_by_label("Password")).to_be_visible()
    anna.sign_in()
    third = anna.context.new_page()
    third.goto(f"{anna.url}/ui/#/servers")
    for page in (first, second, third):
        expect(page.locator(".connection")).to_have_text("Live")
    second.locator(".menu summary").click()
    second.get_by_role("button", name="Sign out").click()
    for page in (first, second, third):
        expect(page.get_by_label("Password")).to_be_visible()
        assert page.evaluate("sessionStorage.length") == 0
    expect(first.get_by_text("Signed out in another tab.")).to_be_visible()


def test_the_palette_goes_and_acts(farm: Farm, operator: Callable[..., Operator]) -> None:
    anna = operator(color_scheme="dark", viewport={"width": 390, "height": 844}).open().sign_in()
    expect(anna.page.locator(".connection")).to_have_text("Live")
    palette, press = anna.page.get_by_role("dialog", name="Go to, or run an action"), anna.page.keyboard.press
    press("Control+k")
    palette.get_by_role("combobox").fill("web2")
    expect(palette.get_by_role("option").first).to_contain_text("shop/web2")
    assert findings(anna.page) == []
    press("Enter")
    expect(anna.page.locator(".detail-head")).to_contain_text("web2")
    press("Control+k")
    palette.get_by_role("combobox").fill("weight web1")
    press("Enter")
    expect(anna.page.get_by_role("dialog").get_by_role("heading")).to_contain_text("shop/web1")
    press("Control+k")
    expect(palette).to_be_hidden()
    press("Escape")
    assert anna.errors == []


def test_two_operators_beside_each_other(farm: Farm, operator: Callable[..., Operator]) -> None:
    anna, bert = (operator().open("#/map/backend/shop/server/web1").sign_in() for _ in range(2))
    for each in (anna, bert):
        expect(each.page.locator(".detail-head")).to_contain_text("Up")
    anna.page.get_by_role("button", name="Maintenance …").click()
    anna.carry_out("Put into maintenance")
    expect(bert.page.locator(".detail-head")).to_contain_text("Maintenance")
    bert.page.get_by_role("button", name="Put into service …").click()
    bert.carry_out("Put into service")
    expect(anna.page.locator(".detail-head")).to_contain_text("Up")
    anna.page.locator(".menu summary").click()
    anna.page.get_by_role("button", name="Sign out").click()
    anna.page.get_by_label("Password").wait_for()
    assert anna.page.evaluate("sessionStorage.length") == 0
    anna.page.reload()
    anna.page.get_by_label("Password").wait_for()
    expect(bert.page.locator(".connection")).to_have_text("Live")
    assert len(farm.sidecar.get("/v3/sidecar/tokens").json()) >= 1


def test_no_credential_is_kept_or_sent_elsewhere(farm: Farm, operator: Callable[..., Operator]) -> None:
    anna = operator().open()
    sent: list[str] = []
    anna.page.on("request", lambda request: sent.append(request.url))
    anna.sign_in()
    expect(anna.page.locator(".connection")).to_have_text("Live")
    kept = anna.page.evaluate("JSON.stringify([{...sessionStorage}, {...localStorage}, document.cookie, location.href])")
    assert USER[1] not in kept and "dps_" in kept
    assert all(url.startswith(anna.url) and "dps_" not in url and USER[1] not in url for url in sent), sent
    anna.page.reload()
    expect(anna.page.locator(".connection")).to_have_text("Live")
    (id_,) = (each["id"] for each in farm.sidecar.get("/v3/sidecar/tokens").json()[:1])
    farm.sidecar.delete(f"/v3/sidecar/tokens/{id_}")
    expect(anna.page.get_by_text("Your session has ended")).to_be_visible()


def test_a_wrong_password(farm: Farm, operator: Callable[..., Operator]) -> None:
    anna = operator().open().sign_in(password="wrong")
    expect(anna.page.get_by_role("alert")).to_have_text("Name or password is wrong.")
    anna.sign_in()
    expect(anna.page.locator(".connection")).to_have_text("Live")


def test_what_a_role_does_not_allow(browser: Browser, tmp_path: Path) -> None:
    users = [{"name": USER[0], "password": USER[1], "insecure": True, "role": "admin"}]
    users += [{"name": name, "password": name, "insecure": True, **more} for name, more in {"vera": {"role": "viewer"}, "nina": {}}.items()]
    config = (PLAIN + SHOP).format(site=free_port())
    with HAProxy(tmp_path, config, binary=binaries.newest()) as haproxy, Quick(haproxy, dataplaneapi={"user": users}) as sidecar:
        url = str(sidecar.client.base_url)
        nina = Operator(browser, url).open().sign_in("nina", "nina")
        expect(nina.page.get_by_role("alert")).to_contain_text("nina has no role here")
        vera = Operator(browser, url).open("#/map/backend/shop/server/web1").sign_in("vera", "vera")
        expect(vera.page.get_by_role("button", name="Maintenance …")).to_be_disabled()
        expect(vera.page.get_by_role("main")).to_contain_text("role viewer may not change admin_state of backend/shop/server/web1")
        expect(vera.page.get_by_role("main")).to_contain_text("may: [change]")
        assert sidecar.stat("web1", "shop")["status"] == "no check"
        for each in (nina, vera):
            each.context.close()


def test_a_view_that_fails_leaves_the_others(farm: Farm, operator: Callable[..., Operator]) -> None:
    """An answer without what the view needs, as of a server that is newer or older than the page."""
    anna = operator().open().sign_in()
    anna.page.route("**/v3/sidecar/drift*", lambda route: route.fulfill(json={}))
    show(anna, "drift")
    failure = anna.page.get_by_role("alert").filter(has_text="Cannot show this view")
    expect(failure).to_be_visible()
    assert findings(anna.page) == []
    anna.page.unroute("**/v3/sidecar/drift*")
    failure.get_by_role("button", name="Try again").click()
    expect(failure).to_be_hidden()
    show(anna, "servers")
    expect(anna.page.get_by_role("row").filter(has_text="web1").first).to_be_visible()


def test_plots_are_painted_when_they_change(farm: Farm, operator: Callable[..., Operator]) -> None:
    """All at once; a line of noughts in a row of a table once."""
    anna = operator().open("#/map/backend/shop").sign_in()
    anna.page.locator("[data-object='backend/shop/server/web1']").wait_for()
    count_paints = """() => {
        window.paints = [];
        const clip = CanvasRenderingContext2D.prototype.clip;
        CanvasRenderingContext2D.prototype.clip = function () {
            window.paints.push([performance.now(), this.canvas.closest("tr") !== null]);
            return clip.call(this);
        };
    }"""
    anna.page.wait_for_timeout(3000)
    anna.page.evaluate(count_paints)
    anna.page.wait_for_timeout(4500)
    paints = anna.page.evaluate("window.paints")
    assert not any(in_row for _, in_row in paints), "rows of idle servers"
    moments = sorted({round(at / 100) for at, _ in paints})
    assert 3 <= len(paints) / 4 <= 6 and len(moments) <= 7, paints
    assert anna.errors == []


def test_a_reload_that_fails_is_shown_at_its_line(farm: Farm, operator: Callable[..., Operator]) -> None:
    anna = operator().open("#/reloads").sign_in()
    sidecar, port = farm.sidecar, free_port()
    with socket.create_server(("127.0.0.1", port)):
        answer = sidecar.post("frontends/site/binds", {"name": "taken", "address": "127.0.0.1", "port": port}, version=sidecar.version())
        assert sidecar.outcome(answer.headers["Reload-Id"])["status"] == "failed"
    anna.page.get_by_role("link", name=answer.headers["Reload-Id"]).click()
    expect(anna.page.locator(".problem pre")).to_contain_text("Address already in use")
    expect(anna.page.locator(".code .guilty")).to_contain_text(f"bind 127.0.0.1:{port} name taken")
    expect(anna.page.get_by_text("Rolled back")).to_be_visible()


def test_a_server_is_added_and_deleted(farm: Farm, operator: Callable[..., Operator]) -> None:
    anna = operator().open("#/map/backend/api").sign_in()
    page, sidecar = anna.page, farm.sidecar
    page.get_by_role("button", name="Create server …").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Create")).to_be_disabled()
    dialog.get_by_label("name", exact=True).fill("a 9")
    dialog.get_by_label("address", exact=True).fill("127.0.0.1")
    expect(dialog.locator("#field-name-about")).to_contain_text("should match")
    dialog.get_by_label("name", exact=True).fill("a9")
    dialog.get_by_label("port", exact=True).fill(str(farm.web.ports["two"]))
    expect(dialog.locator(".diff .added").last).to_contain_text("server a9 127.0.0.1")
    assert sidecar.get("backends/api/servers/a9").status_code == 404, "a plan changes nothing"
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    page.wait_for_timeout(500)
    assert sidecar.get("/v3/services/haproxy/transactions").json() == [], "what a plan has begun ends with it"
    page.get_by_role("button", name="Create server …").click()
    for label, value in (("name", "a9"), ("address", "127.0.0.1"), ("port", str(farm.web.ports["two"]))):
        dialog.get_by_label(label, exact=True).fill(value)
    anna.carry_out("Create")
    page.get_by_role("link", name="a9").click()
    page.get_by_role("button", name="Delete …").click()
    anna.carry_out("Delete")
    expect(page.get_by_text("There is no server a9 in api")).to_be_visible()
    assert sidecar.get("backends/api/servers/a9").status_code == 404
    assert sidecar.get("/v3/services/haproxy/transactions").json() == []


def test_five_thousand_servers(browser: Browser, tmp_path: Path) -> None:
    backends = "".join(
        f"\nbackend farm{number} from plain\n" + "".join(f"    server node{each} 127.0.0.1:1 weight {each + 1}\n" for each in range(50))
        for number in range(100)
    )
    with farm_of(Farm, tmp_path, "3.4", "    default_backend farm0\n" + backends) as farm:
        anna = Operator(browser, str(farm.sidecar.client.base_url)).open().sign_in()
        anna.page.locator("a.row").first.wait_for()
        show(anna, "servers")
        anna.page.locator("tbody tr[data-index]").first.wait_for()
        assert anna.page.locator("tbody tr[data-index]").count() < 100, "rows out of sight are not there"
        anna.page.get_by_role("button", name="Weight").click()
        anna.page.get_by_role("button", name="Weight").click()
        expect(anna.page.locator("tbody tr[data-index='0']")).to_contain_text("50")
        anna.page.get_by_label("Find servers").fill("farm77 node13")
        expect(anna.page.locator("tbody tr[data-index]")).to_have_count(1)
        for state, word in (("maint", "Maintenance"), ("ready", "Up")) * 5:
            farm.sidecar.haproxy.ask(f"set server farm77/node13 state {state}")
            expect(anna.page.locator("tbody tr[data-index='0']")).to_contain_text(word)
        anna.context.close()
