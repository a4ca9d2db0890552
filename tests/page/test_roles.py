"""Use the page with limited roles: each view names the missing permission, and the page makes no call that would be refused."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.acceptance.quick import PLAIN, SERVICES, Quick
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import USER
from tests.page.browser import Operator
from tests.page.test_page import findings, show

pytestmark = pytest.mark.e2e
LINES = """\
frontend site from plain
    bind 127.0.0.1:{site}
    acl blocked path -f {directory}/acl_dir/blocked.lst
    http-request deny if blocked
    use_backend %[req.hdr(host),map({directory}/maps_dir/hosts.map,shop)]

backend shop from plain
    stick-table type ip size 1k expire 10m store conn_cnt
    server web1 127.0.0.1:1
    server web2 127.0.0.1:2

backend shop_b from plain
    server web1 127.0.0.1:1

backend api from plain
    server a1 127.0.0.1:1
"""
ROLES = {
    "shop": [{"objects": "backend/shop*", "may": ["read", "change"]}],
    "weights": [
        {"objects": "**", "may": ["read"]},
        {"objects": "backend/shop/server/*", "may": ["change"], "fields": ["weight"], "reload": "never"},
    ],
}
USERS = {"sam": "shop", "vera": "viewer", "willa": "weights"}
VIEWS = ("map", "map/backend/shop", "map/backend/shop/server/web1", "request", "servers", "splits", "lists", "lists/map/hosts.map")
VIEWS += (
    "lists/acl/blocked.lst",
    "certificates",
    "configuration",
    "configuration/backend%20shop",
    "tests",
    "history",
    "reloads",
    "workers",
)
VIEWS += ("drift", "events", "tables", "tables/shop")
# Of sam, who reads two backends, something is kept back in each view; a server and its backend are his.
WHOLE = ("map/backend/shop/server/web1",)
BUTTONS = """main => [...main.querySelectorAll("button")].filter(each => each.checkVisibility())
    .map(each => [each.getAttribute("aria-label") ?? each.innerText.trim(), each.disabled, each.title])"""


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quick]:
    directory = tmp_path_factory.mktemp("roles")
    for name, content in {"maps_dir/hosts.map": "a.example api\n", "acl_dir/blocked.lst": "/admin\n"}.items():
        (directory / name).parent.mkdir()
        (directory / name).write_text(content)
    users = [{"name": USER[0], "password": USER[1], "insecure": True, "role": "admin"}]
    users += [{"name": name, "password": name, "insecure": True, "role": role} for name, role in USERS.items()]
    config = (PLAIN + LINES).format(site=free_port(), directory=directory)
    with (
        HAProxy(directory, config, binary=binaries.newest()) as haproxy,
        Quick(haproxy, dataplaneapi={"user": users, "roles": ROLES}) as running,
    ):
        running.put(f"{SERVICES}/runtime/backends/api/servers/a1", {"weight": 50})
        running.put(f"{SERVICES}/runtime/backends/shop/servers/web2", {"admin_state": "maint"})
        running.put(
            "/v3/sidecar/tests/base", {"cases": [{"name": "one", "request": {"url": "http://site/"}, "expect": {"backend": "shop"}}]}
        )
        yield running


def enter(browser: Browser, sidecar: Quick, name: str) -> Operator:
    operator = Operator(browser, str(sidecar.client.base_url)).open().sign_in(name, name)
    expect(operator.page.locator(".connection")).to_have_text("Live")
    return operator


def test_a_role_of_two_backends(browser: Browser, sidecar: Quick) -> None:
    sam = enter(browser, sidecar, "sam")
    for view in VIEWS:
        show(sam, view)
        main = sam.page.get_by_role("main")
        if view not in WHOLE:
            expect(main.get_by_text("a rule that allows it").first, view).to_be_visible()
        text = main.inner_text()
        assert not re.search(r"(?m)^(No [\w ]+|None)$", re.sub(r".* that your role may read", "", text)), text
        for label, off, why in main.evaluate(BUTTONS):
            assert not off or "a rule that allows it" in why, (view, label, why)
        assert findings(sam.page) == [], view
    assert "api" not in sam.page.evaluate("document.body.innerText").replace("dataplaneapi", "")
    show(sam, "map/backend/api")
    expect(sam.page.get_by_text("You may not see backend api")).to_be_visible()
    assert sam.errors == [], "not even a call that is refused"
    sam.context.close()


def test_a_viewer_changes_nothing(browser: Browser, sidecar: Quick) -> None:
    vera = enter(browser, sidecar, "vera")
    for view in VIEWS:
        show(vera, view)
        main = vera.page.get_by_role("main")
        for label, off, why in main.evaluate(BUTTONS):
            changes = (label.endswith("…") and "Review and commit" not in label) or label.startswith(("Delete", "Change", "Remove"))
            assert not changes or (
                off and re.search(r"role viewer may not \w+ .*; a rule that allows it: {objects: .*, may: \[\w+\]", why)
            ), (view, label)
        assert findings(vera.page) == [], view
    show(vera, "map/backend/shop/server/web1")
    expect(vera.page.get_by_role("button", name="Maintenance …")).to_be_disabled()
    expect(vera.page.locator(".lacks").first).to_contain_text("fields: [admin_state]")
    show(vera, "configuration/backend%20shop")
    expect(vera.page.get_by_role("textbox", name="Text of backend shop")).not_to_be_editable()
    expect(vera.page.get_by_text("role viewer may not change backend/shop;")).to_be_visible()
    sidecar.haproxy.ask("set table shop key 10.0.0.7 data.conn_cnt 3")
    sidecar.haproxy.ask("set table shop key 10.0.0.8 data.conn_cnt 4")
    show(vera, "tables/shop")
    entries = vera.page.get_by_role("region", name="Entries of shop").locator("tbody tr")
    expect(entries).to_have_count(2)
    vera.page.get_by_label("Find entries").fill("0.0.8")
    expect(entries).to_have_text(re.compile(r"10\.0\.0\.8.*4.*min"))
    show(vera, "tests")
    vera.page.get_by_role("button", name="Run all").click()
    expect(vera.page.get_by_role("heading", name="All 1 cases passed")).to_be_visible()
    assert vera.errors == []
    vera.context.close()


@pytest.mark.parametrize("name", ["sam", "willa"])
def test_each_button_says_before_what_it_may_not(browser: Browser, sidecar: Quick, name: str) -> None:
    """Those that are on open a dialog, whose own button is off with the reason, or works."""
    operator = enter(browser, sidecar, name)
    page, opened = operator.page, 0
    for view in VIEWS:
        show(operator, view)
        for label, off, _ in page.get_by_role("main").evaluate(BUTTONS):
            if off or (not label.endswith("…") and not label.startswith(("Delete", "Change", "Remove"))):
                continue
            page.get_by_role("main").get_by_role("button", name=label, exact=True).first.click()
            dialog = page.get_by_role("dialog")
            expect(dialog.locator(".planned .spinner")).to_have_count(0)
            assert "Cannot show the plan" not in dialog.inner_text(), (view, label)
            if "Your role does not allow this" in dialog.inner_text():
                expect(dialog.locator("button[type=submit]")).to_be_disabled()
                expect(dialog).to_contain_text("a rule that allows it")
            assert findings(page) == [], (view, label)
            page.keyboard.press("Escape")
            expect(dialog).to_have_count(0)
            opened += 1
    assert opened >= (3 if name == "sam" else 1) and operator.errors == []
    operator.context.close()


def test_what_only_the_plan_can_tell(browser: Browser, sidecar: Quick) -> None:
    """A text may change weights, and nothing else."""
    willa = enter(browser, sidecar, "willa")
    show(willa, "configuration/backend%20shop")
    area = willa.page.get_by_role("textbox", name="Text of backend shop")
    before = area.input_value()
    area.fill(before.replace("127.0.0.1:2", "127.0.0.1:3"))
    verdict = willa.page.locator(".edit-verdict")
    expect(verdict).to_contain_text("Not allowed role weights may not change port of backend/shop/server/web2")
    expect(verdict).to_contain_text("fields: [port]")
    expect(willa.page.get_by_role("button", name="Review and commit …")).to_be_disabled()
    assert [error for error in willa.errors if "403" not in error] == []
    willa.errors.clear()
    area.fill(before.replace("127.0.0.1:2", "127.0.0.1:2 weight 7"))
    willa.page.get_by_role("button", name="Review and commit …").click()
    willa.page.get_by_role("dialog").get_by_label("Roll back automatically unless confirmed").select_option("10m")
    willa.carry_out("Commit")
    assert sidecar.get("backends/shop/servers/web2").json()["weight"] == 7
    strip = willa.page.get_by_role("region", name="Unconfirmed change")
    expect(strip.get_by_role("button", name="Confirm")).to_be_enabled()
    vera = enter(browser, sidecar, "vera")
    theirs = vera.page.get_by_role("region", name="Unconfirmed change")
    expect(theirs.get_by_role("button", name="Confirm")).to_be_disabled()
    expect(theirs).to_contain_text("may not change confirmation/")
    sam = enter(browser, sidecar, "sam")
    sam.page.wait_for_timeout(500)
    strip.get_by_role("button", name="Confirm").click()
    willa.carry_out("Confirm")
    assert willa.errors == vera.errors == sam.errors == []
    for each in (willa, vera, sam):
        each.context.close()
