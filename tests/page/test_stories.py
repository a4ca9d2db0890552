"""Drain, confirm and revert in a real browser, and compare the page with the server and HAProxy."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.acceptance.farm import Farm
from tests.acceptance.quick import SERVICES
from tests.page.browser import Operator


def admin_state(farm: Farm, name: str) -> str:
    return str(farm.sidecar.get(f"{SERVICES}/runtime/backends/shop/servers/{name}").json()["admin_state"])


def test_a_server_is_drained_and_comes_back(farm: Farm, operator: Callable[[], Operator]) -> None:
    anna = operator().open().sign_in()
    page = anna.page
    page.get_by_role("link", name="shop").first.click()
    page.get_by_role("link", name="web1", exact=True).click()
    page.get_by_role("button", name="Drain …").click()
    dialog = page.get_by_role("dialog", name="Drain shop/web1")
    expect(dialog).to_contain_text("1 of 2 servers of shop stay up")
    expect(dialog).to_contain_text("without a reload")
    assert admin_state(farm, "web1") == "ready", "a plan changes nothing"
    anna.carry_out("Drain")
    expect(page.locator(".detail-head")).to_contain_text("Maintenance")
    assert admin_state(farm, "web1") == "maint"
    expect(page.get_by_text("Drain of shop/web1 is done.")).to_be_visible()
    page.get_by_role("button", name="Put into service …").click()
    anna.carry_out("Put into service")
    expect(page.locator(".detail-head")).to_contain_text("Up")
    assert admin_state(farm, "web1") == "ready" and anna.errors == []


def test_a_change_waits_and_is_confirmed(farm: Farm, operator: Callable[[], Operator]) -> None:
    anna = operator().open().sign_in()
    page = anna.page
    expect(page.locator(".connection")).to_have_text("Live")
    answer = farm.sidecar.put_server("web1", {"weight": 33}, "shop", version=farm.sidecar.version(), confirm="300s")
    assert answer.status_code == 200, answer.text
    strip = page.get_by_role("region", name="Unconfirmed change")
    expect(strip.get_by_role("timer")).to_contain_text("4:5")
    strip.get_by_role("button", name="Confirm").click()
    expect(page.get_by_role("dialog")).to_contain_text("33")
    anna.carry_out("Confirm")
    expect(strip).to_have_count(0)
    (newest,) = farm.sidecar.get("/v3/sidecar/confirmations", limit=1).json()
    assert newest["status"] == "confirmed" and farm.sidecar.get("backends/shop/servers/web1").json()["weight"] == 33
    assert anna.errors == []


def test_a_change_is_reverted(farm: Farm, operator: Callable[[], Operator]) -> None:
    anna = operator().open("#/history").sign_in()
    page, sidecar = anna.page, farm.sidecar
    expect(page.get_by_role("heading", name="History")).to_be_visible()
    before = sidecar.get("backends/shop/servers/web2").json()["weight"]
    assert sidecar.put_server("web2", {"weight": before + 30}, "shop", version=sidecar.version()).status_code == 200
    (newest,) = sidecar.get("/v3/sidecar/history", limit=1).json()
    page.locator(f"a[href='#/history/{newest['id']}']").click()
    expect(page.locator(".diff .added", has_text=f"weight {before + 30}")).to_be_visible()
    page.get_by_role("button", name="Revert …").click()
    expect(page.get_by_role("dialog").locator(".changes .new")).to_have_text(str(before))
    anna.carry_out("Revert")
    expect(page.get_by_role("status").last).to_contain_text("is reverted")
    assert sidecar.get("backends/shop/servers/web2").json()["weight"] == before
    assert sidecar.haproxy.ask("get weight shop/web2").startswith(str(before)) and anna.errors == []
