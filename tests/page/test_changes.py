"""Make changes from the page other than of servers: shares, entries of maps and ACLs, certificates, tests, and the route of a request."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.acceptance.farm import Farm, farm_of
from tests.acceptance.quick import PLAIN, SERVICES, Quick
from tests.acceptance.walk_areas import pem
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import USER
from tests.page.browser import Operator
from tests.page.test_page import SHOP, findings, show

pytestmark = pytest.mark.e2e
LINES = """\
    acl inside src 10.0.0.0/8
    acl blocked path -f DIRECTORY/acl_dir/blocked.lst
    http-request deny if blocked !inside
    use_backend api if {{ path_beg /api }}
    use_backend %[req.hdr(host),lower,map(DIRECTORY/maps_dir/hosts.map,shop)] if {{ req.hdr(host) -m end .mapped.example }}
    default_backend shop

backend shop from plain
    server web1 127.0.0.1:{one}
    server web2 127.0.0.1:{two}

backend api from plain
    server a1 127.0.0.1:{one}
"""
CASES = [
    {"name": "the cart", "request": {"url": "http://site/cart"}, "expect": {"backend": "shop"}},
    {"name": "the gate", "request": {"url": "http://site/admin"}, "expect": {"status": 200}},
]
Operators = Callable[..., Operator]


@pytest.fixture(scope="module")
def farm(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Farm]:
    directory = tmp_path_factory.mktemp("farm")
    for name, content in {"maps_dir/hosts.map": "a.mapped.example api\n", "acl_dir/blocked.lst": "/admin\n"}.items():
        (directory / name).parent.mkdir()
        (directory / name).write_text(content)
    with farm_of(Farm, directory, "3.4", LINES.replace("DIRECTORY", str(directory)), "one", "two") as found:
        yield found


def ask(operator: Operator, url: str) -> None:
    show(operator, "request")
    operator.page.get_by_label("URL").fill(url)
    operator.page.get_by_role("button", name="Ask HAProxy").click()


def test_a_request_lights_its_way(farm: Farm, operator: Operators) -> None:
    anna = operator().open().sign_in()
    ask(anna, "http://x.example/api/cart")
    way, page = anna.page.get_by_role("list", name="Path of the request"), anna.page
    expect(way).to_contain_text("site")
    expect(way.get_by_role("link", name="a1", exact=True)).to_be_visible()
    expect(page.locator("a.row[aria-current]")).to_contain_text(["site", "api"])
    expect(page.locator(".links path.strong")).to_have_count(1)
    expect(page.locator(".rules")).to_contain_text("use_backend api if { path_beg /api }")
    page.get_by_text("Headers and listener").click()
    page.get_by_label("Headers, one on a line").fill("Host: a.mapped.example")
    ask(anna, "/cart")
    expect(page.locator("a.row[aria-current]")).to_contain_text(["site", "api"])
    expect(page.locator(".links path.strong")).to_have_count(1)
    ask(anna, "/admin")
    expect(way).to_contain_text("http-request deny if blocked !inside")
    expect(way).to_contain_text("403")
    expect(page.locator("a.row[aria-current]")).to_have_count(1)
    expect(page.locator(".rules")).to_contain_text("acl inside src 10.0.0.0/8")
    ask(anna, "no url")
    expect(page.get_by_role("alert")).to_contain_text("It cannot be answered")


def test_tests_are_run(farm: Farm, operator: Operators) -> None:
    anna = operator().open("#/tests").sign_in()
    page = anna.page
    expect(page.get_by_text("No tests")).to_be_visible()
    farm.sidecar.put("/v3/sidecar/tests/base", {"cases": CASES})
    page.get_by_role("button", name="Run all").click()
    expect(page.get_by_role("heading", name="1 of 2 cases failed")).to_be_visible()
    expect(page.locator(".case")).to_contain_text("status is 403, not 200")
    page.get_by_role("link", name="Show its path on the map").click()
    expect(page.get_by_role("list", name="Path of the request")).to_contain_text("403")
    assert page.get_by_label("URL").input_value() == "http://site/admin"
    farm.sidecar.delete("/v3/sidecar/tests/base")
    assert anna.errors == []


def test_shares_by_a_slider(farm: Farm, operator: Operators) -> None:
    anna, sidecar = operator().open("#/splits").sign_in(), farm.sidecar
    page, dialog = anna.page, anna.page.get_by_role("dialog")
    expect(page.get_by_text("No splits")).to_be_visible()
    page.get_by_role("button", name="Create split …").click()
    dialog.get_by_label("Name", exact=True).fill("canary")
    expect(dialog.get_by_text("HAProxy applies this by a reload")).to_be_visible()
    assert sidecar.get("/v3/sidecar/splits").json() == [], "a plan changes nothing"
    anna.carry_out("Create")
    page.get_by_role("button", name="Change the shares …").wait_for()
    assert findings(page) == []
    page.get_by_role("button", name="Change the shares …").click()
    slider = dialog.get_by_role("slider")
    assert slider.input_value() == "95"
    slider.press("ArrowLeft")
    slider.press("ArrowLeft")
    expect(dialog.locator(".changes .new")).to_have_text(["93 %", "7 %"])
    expect(dialog).to_contain_text("without a reload")
    anna.carry_out("Set the shares")
    expect(page.get_by_role("region", name="Split canary")).to_contain_text("93 %")
    assert sidecar.get("/v3/sidecar/splits/canary").json()["shares"] == {"shop": 93, "api": 7}
    page.get_by_role("button", name="Delete …").click()
    anna.carry_out("Delete")
    expect(page.get_by_text("No splits")).to_be_visible()
    assert anna.errors == []


def test_entries_of_a_map(farm: Farm, operator: Operators) -> None:
    anna, sidecar = operator().open("#/lists/map/hosts.map").sign_in(), farm.sidecar
    page, dialog, file = anna.page, anna.page.get_by_role("dialog"), sidecar.directory / "maps_dir" / "hosts.map"
    page.get_by_role("button", name="Add an entry …").click()
    expect(dialog).to_contain_text("Enter a key and a value.")
    dialog.get_by_label("Key").fill("b.mapped.example")
    dialog.get_by_label("Value").fill("shop")
    anna.carry_out("Add")
    expect(page.get_by_role("cell", name="b.mapped.example", exact=True)).to_be_visible()
    assert "b.mapped.example shop" in file.read_text() and "b.mapped.example shop" in sidecar.haproxy.ask(f"show map {file}")
    page.get_by_role("button", name="Change b.mapped.example").click()
    dialog.get_by_label("Value").fill("api")
    dialog.get_by_label("Change the file as well").uncheck()
    expect(dialog).to_contain_text("the next reload reverts this")
    anna.carry_out("Change")
    expect(page.get_by_role("row", name="b.mapped.example")).to_contain_text("api")
    assert "b.mapped.example shop" in file.read_text() and "b.mapped.example api" in sidecar.haproxy.ask(f"show map {file}")
    page.get_by_role("button", name="Delete b.mapped.example").click()
    anna.carry_out("Delete")
    expect(page.get_by_role("cell", name="b.mapped.example", exact=True)).to_have_count(0)
    assert "b.mapped" not in file.read_text()
    page.get_by_role("button", name="Edit the file …").click()
    dialog.get_by_label("Lines").fill("a.mapped.example api\nc.mapped.example shop\n")
    expect(dialog).to_contain_text("1 line added, 0 removed.")
    anna.carry_out("Store")
    expect(page.get_by_role("cell", name="c.mapped.example", exact=True)).to_be_visible()
    assert "c.mapped.example shop" in sidecar.haproxy.ask(f"show map {file}") and anna.errors == []


def test_patterns_of_an_acl(farm: Farm, operator: Operators) -> None:
    anna = operator().open("#/lists").sign_in()
    page, dialog, file = anna.page, anna.page.get_by_role("dialog"), farm.sidecar.directory / "acl_dir" / "blocked.lst"
    page.get_by_role("link", name="blocked.lst").click()
    page.get_by_role("button", name="Add a pattern …").click()
    dialog.get_by_label("Pattern").fill("/secret")
    anna.carry_out("Add")
    assert "/secret" in file.read_text() and "/secret" in farm.sidecar.haproxy.ask(f"show acl {file}")
    page.get_by_role("button", name="Delete /secret").click()
    anna.carry_out("Delete")
    expect(page.get_by_role("cell", name="/secret", exact=True)).to_have_count(0)
    assert "/secret" not in file.read_text()
    page.get_by_label("Find a map or an ACL").fill("src")
    page.get_by_role("link", name="src").click()
    expect(page.get_by_role("cell", name="10.0.0.0/8", exact=True)).to_be_visible()
    assert anna.errors == []


def test_a_certificate_is_uploaded(farm: Farm, operator: Operators) -> None:
    anna, sidecar = operator().open("#/certificates").sign_in(), farm.sidecar
    page, dialog, stored = anna.page, anna.page.get_by_role("dialog"), f"{SERVICES}/storage/ssl_certificates"
    page.get_by_role("button", name="Upload …").click()
    dialog.get_by_label("PEM files").set_input_files({"name": "none.pem", "mimeType": "text/plain", "buffer": b"no certificate\n"})
    dialog.get_by_role("button", name="Store").click()
    expect(dialog.get_by_role("alert")).to_contain_text("no CERTIFICATE block found")
    both = [
        {"name": "shop.pem", "mimeType": "text/plain", "buffer": pem("CERTIFICATE")},
        {"name": "key.pem", "mimeType": "text/plain", "buffer": pem("PRIVATE KEY")},
    ]
    dialog.get_by_label("PEM files").set_input_files(both)
    expect(dialog).to_contain_text("shop.pem is a new certificate")
    assert sidecar.get(stored).json() == [], "a plan changes nothing"
    anna.carry_out("Store")
    expect(page.get_by_role("row", name="shop.pem")).to_contain_text("days")
    page.get_by_role("button", name="Upload …").click()
    dialog.get_by_label("PEM files").set_input_files(both)
    expect(dialog).to_contain_text("It replaces shop.pem")
    dialog.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Delete shop.pem").click()
    anna.carry_out("Delete")
    expect(page.get_by_text("No certificates")).to_be_visible()
    assert sidecar.get(stored).json() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 375])
def test_axe_finds_nothing(farm: Farm, operator: Operators, scheme: str, width: int) -> None:
    anna = operator(color_scheme=scheme, viewport={"width": width, "height": 844}).open().sign_in()
    page, found = anna.page, dict[str, list[str]]()

    def look(name: str) -> None:
        page.wait_for_timeout(300)
        found[name] = findings(page)
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found[name].append("wider than the window")

    farm.sidecar.put("/v3/sidecar/tests/base", {"cases": CASES})
    for url in ("http://site/api", "/admin"):
        ask(anna, url)
        page.locator("ol.way").wait_for()
        look(url)
    show(anna, "tests")
    page.get_by_role("button", name="Run all").click()
    page.locator(".case").wait_for()
    look("tests")
    show(anna, "splits")
    page.get_by_role("button", name="Create split …").click()
    page.get_by_role("dialog").get_by_label("Name", exact=True).fill("canary")
    look("divide")
    page.keyboard.press("Escape")
    for view in ("lists", "lists/map/hosts.map", "lists/map/none.map"):
        show(anna, view)
        look(view)
    show(anna, "lists/map/hosts.map")
    page.get_by_role("button", name="Edit the file …").click()
    page.get_by_role("dialog").wait_for()
    look("edit")
    farm.sidecar.delete("/v3/sidecar/tests/base")
    assert {view: each for view, each in found.items() if each} == {}
    assert anna.errors == []


def test_what_a_role_does_not_allow(browser: Browser, tmp_path: Path) -> None:
    roles = {"shop": [{"objects": "backend/shop", "may": ["read", "change"]}]}
    users = [{"name": USER[0], "password": USER[1], "insecure": True, "role": "admin"}]
    users += [{"name": "sam", "password": USER[1], "insecure": True, "role": "shop"}]
    config = (PLAIN + SHOP).format(site=free_port())
    with (
        HAProxy(tmp_path, config, binary=binaries.newest()) as haproxy,
        Quick(haproxy, dataplaneapi={"user": users, "roles": roles}) as sidecar,
    ):
        sam = Operator(browser, str(sidecar.client.base_url)).open().sign_in("sam")
        show(sam, "request")
        expect(sam.page.get_by_text("You may not see what happens to requests")).to_be_visible()
        expect(sam.page.get_by_role("button", name="Ask HAProxy")).to_be_disabled()
        show(sam, "lists")
        expect(sam.page.get_by_role("heading", name="Maps and ACLs")).to_be_visible()
        expect(sam.page.locator(".note").filter(has_text="may not read all of map/*")).to_be_visible()
        sam.context.close()


def test_a_server_that_is_read_only(browser: Browser, tmp_path: Path) -> None:
    with (
        HAProxy(tmp_path, (PLAIN + SHOP).format(site=free_port()), binary=binaries.newest()) as haproxy,
        Quick(haproxy, dataplaneapi={"read_only": True}) as sidecar,
    ):
        anna = Operator(browser, str(sidecar.client.base_url)).open().sign_in()
        page = anna.page
        expect(page.get_by_text("Read-only", exact=True)).to_be_visible()
        for view in ("splits", "lists", "certificates", "map/backend/shop"):
            show(anna, view)
            page.wait_for_timeout(300)
            expect(page.get_by_role("main").get_by_role("button", name="…")).to_have_count(0)
        show(anna, "configuration/backend%20shop")
        expect(page.get_by_role("textbox", name="Text of backend shop")).not_to_be_editable()
        ask(anna, "http://site/")
        expect(page.get_by_role("list", name="Path of the request")).to_contain_text("web1")
        anna.context.close()
