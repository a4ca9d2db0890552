"""Create sections and their lines by forms that are generated from the declaration, after a look at the plan."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.acceptance.farm import Farm
from tests.page.browser import Operator
from tests.page.test_page import TOO_WIDE, findings, show

pytestmark = pytest.mark.e2e
Operators = Callable[..., Operator]
RULES = "frontends/site/http_request_rules"
# The fields of every kind, in the sections and among them, each with the values that choose among its forms.
FIELDS = """async () => {
    const {declaration, kindsOf, formOf} = await import("./declaration.js"), document = await declaration(), found = {};
    const fields = (keyword, kind, body) => formOf(document, keyword, {kind, body}).own;
    for (const [keyword, collection] of [["", undefined], ["frontend", "frontends"], ["backend", "backends"]])
        for (const {kind} of kindsOf(document, collection)) found[`${keyword}/${kind}`] = fields(keyword, kind, {}).map(({path}) => path);
    const rule = (type) => fields("frontend", "http_request_rule", {type}).map(({path, isRequired}) => path + (isRequired ? "*" : ""));
    return [found, rule("set-header"), rule("return")];
}"""


def opened(operator: Operator, place: str, button: str) -> Locator:
    show(operator, place)
    operator.page.get_by_role("main").get_by_role("button", name=button, exact=True).click()
    dialog = operator.page.get_by_role("dialog")
    dialog.get_by_label("Roll back automatically").wait_for()
    return dialog


def test_every_kind_has_its_fields(operator: Operators) -> None:
    anna = operator().open().sign_in()
    expect(anna.page.locator(".connection")).to_have_text("Live")
    found, header, answer = anna.page.evaluate(FIELDS)
    assert len(found) >= 45 and all(found.values()), {kind for kind, fields in found.items() if not fields}
    assert {"name", "address", "port", "weight", "check"} <= set(found["backend/server"]) and "default_backend" in found["/frontend"]
    assert found["frontend/backend_switching_rule"] == ["name", "cond", "cond_test"]
    assert header == ["type*", "hdr_name*", "hdr_format*", "cond", "cond_test"]
    assert "return_content" in answer and "hdr_name" not in answer


def test_a_backend_with_its_first_server(farm: Farm, operator: Operators) -> None:
    """The form is opened from the palette. Errors are shown at their member, and the planned change is sent."""
    anna = operator().open().sign_in()
    page, press = anna.page, anna.page.keyboard
    expect(page.locator(".connection")).to_have_text("Live")
    press.press("Control+k")
    press.type("create backend")
    press.press("Enter")
    dialog = page.get_by_role("dialog", name="Create backend")
    name = dialog.get_by_role("textbox", name="name", exact=True).first
    expect(name).to_be_focused()
    expect(dialog.get_by_role("button", name="Create")).to_be_disabled()
    expect(dialog).to_contain_text("Enter name.")
    press.type("shop")
    expect(dialog.locator("#field-name-about")).to_have_text("backend shop already exists")
    expect(name).to_have_attribute("aria-invalid", "true")
    name.fill("a b")
    expect(dialog.locator("#field-name-about")).to_contain_text("should match")
    name.fill("canary")
    dialog.get_by_label("mode", exact=True).select_option("http")
    dialog.get_by_text("More members").click()
    dialog.get_by_label("Find a member").fill("retries")
    dialog.get_by_label("retries", exact=True).fill("many")
    expect(dialog.locator("#field-retries-about")).to_have_text("should be an integer")
    dialog.get_by_label("retries", exact=True).fill("2")
    server = dialog.get_by_role("group", name="First server")
    server.get_by_label("address").fill("127.0.0.1")
    expect(dialog).to_contain_text("Enter server.name.")
    server.get_by_label("name").fill("c1")
    server.get_by_label("port").fill("0")
    expect(dialog.locator("#field-server\\.port-about")).to_contain_text("should be greater than or equal to 1")
    server.get_by_label("port").fill(str(farm.web.ports["one"]))
    expect(dialog.locator(".diff .added")).to_contain_text(["backend canary", "retries 2", "server c1"])
    assert farm.sidecar.get("backends/canary").status_code == 404, "a plan changes nothing"
    sent = list[str]()
    page.on("request", lambda request: sent.append(request.method) if "/v3/services/" in request.url and request.method != "GET" else None)
    anna.carry_out("Create")
    expect(page.locator(".detail-head")).to_contain_text("canary")
    assert sent == ["PUT"], "the transaction that was planned"
    assert farm.sidecar.get("backends/canary").json()["retries"] == 2
    assert farm.sidecar.get("backends/canary/servers/c1").json()["check"] == "enabled"
    assert farm.sidecar.get("/v3/services/haproxy/transactions").json() == []


def test_a_rule_in_its_place(farm: Farm, operator: Operators) -> None:
    anna = operator().open().sign_in()
    before = farm.sidecar.get(RULES).json()
    dialog = opened(anna, "map/frontend/site", "Create other …")
    expect(dialog).to_contain_text("Choose what to create.")
    dialog.get_by_label("What").select_option("http_request_rule")
    dialog.get_by_label("type", exact=True).select_option("return")
    dialog.get_by_label("return_status_code").fill("404")
    dialog.get_by_role("button", name="Add to return_hdrs").click()
    dialog.get_by_label("name 1").fill("X-Why")
    dialog.get_by_label("fmt 1").fill("none")
    dialog.get_by_label("cond", exact=True).select_option("if")
    expect(dialog.locator("#field-cond_test-about")).to_contain_text("is required with cond")
    dialog.get_by_label("cond_test").fill("nobody")
    expect(dialog).to_contain_text("HAProxy refuses this")
    expect(dialog).to_contain_text("no such ACL")
    expect(dialog.get_by_role("button", name="Create")).to_be_disabled()
    dialog.get_by_label("cond_test").fill("{ path /none }")
    dialog.get_by_label("Position").fill("0")
    anna.carry_out("Create")
    (first, *rest) = farm.sidecar.get(RULES).json()
    assert first["return_hdrs"] == [{"name": "X-Why", "fmt": "none"}] and first["return_status_code"] == 404 and rest == before


def test_from_the_servers_and_from_the_configuration(farm: Farm, operator: Operators) -> None:
    anna = operator().open().sign_in()
    dialog = opened(anna, "servers", "Create server …")
    dialog.get_by_label("Backend", exact=True).select_option("api")
    dialog.get_by_label("name", exact=True).fill("a7")
    dialog.get_by_label("address", exact=True).fill("127.0.0.1")
    dialog.get_by_label("port", exact=True).fill(str(farm.web.ports["two"]))
    anna.carry_out("Create")
    expect(anna.page.get_by_role("link", name="a7")).to_be_visible()
    dialog = opened(anna, "configuration", "Create section …")
    dialog.get_by_label("What").select_option("cache")
    dialog.get_by_label("name", exact=True).fill("pages")
    dialog.get_by_label("total_max_size").fill("4")
    anna.carry_out("Create")
    expect(anna.page.get_by_role("link", name="cache pages")).to_be_visible()
    dialog = opened(anna, "configuration/frontend%20site", "Create line …")
    dialog.get_by_label("What").select_option("backend_switching_rule")
    assert "api" in dialog.locator("datalist option").evaluate_all("all => all.map(each => each.value)")
    dialog.get_by_label("name", exact=True).fill("api")
    anna.carry_out("Create")
    assert farm.sidecar.get("frontends/site/backend_switching_rules").json()[-1] == {"name": "api"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_nothing_in_the_forms(operator: Operators, scheme: str, width: int) -> None:
    anna = operator(color_scheme=scheme, viewport={"width": width, "height": 844}).open().sign_in()
    found: dict[str, list[str]] = {}

    def look(name: str) -> None:
        anna.page.wait_for_timeout(400)
        found[name] = findings(anna.page) + anna.page.evaluate(TOO_WIDE.replace("html, main,", "html, main, dialog,"))

    for kind in ("frontend", "backend"):
        dialog = opened(anna, "map", f"Create {kind} …")
        dialog.get_by_text("More members").click()
        dialog.get_by_label("Find a member").fill("zzz")
        look(f"{kind}: none")
        dialog.get_by_label("Find a member").fill("")
        look(kind)
        anna.page.keyboard.press("Escape")
    dialog = opened(anna, "map/backend/shop", "Create other …")
    for what in ("server", "http_request_rule"):
        dialog.get_by_label("What").select_option(what)
        look(what)
    dialog.get_by_label("type", exact=True).select_option("return")
    dialog.get_by_role("button", name="Add to return_hdrs").click()
    dialog.get_by_label("return_status_code").fill("many")
    look("rows")
    assert {name: each for name, each in found.items() if each} == {}
    assert anna.errors == []
