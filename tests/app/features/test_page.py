"""The page's files: served to everybody, compressed, with headers that let nothing else into the page."""

import gzip
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from dataplaneapi.features.page import feature as ui
from tests.app.client import Client


def test_all_that_the_page_needs_is_here(client: Client) -> None:
    got = client.get("/ui/", auth=None)
    assert (got.status, got.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert client.get("/ui/index.html", auth=None).body == got.body
    needed = re.findall(r'(?:src|href)="([^"]+)"', got.body.decode())
    modules = list(ui.DIRECTORY.rglob("*.js"))
    imports = {(path.parent / name).resolve() for path in modules for name in re.findall(r'from "(\.[^"]+)"', path.read_text())}
    assert imports <= {path.resolve() for path in modules}
    named = {(ui.DIRECTORY / name).resolve() for name in needed}
    assert imports <= named, "modules that index.html does not name are asked for one after the other"
    for name in (*needed, *(path.relative_to(ui.DIRECTORY).as_posix() for path in modules)):
        assert client.get(f"/ui/{name}", auth=None).status == 200, name


def test_nothing_else_may_come_into_the_page(client: Client) -> None:
    for path in ("/ui/", "/ui/main.js", "/ui/none.js", "/ui"):
        headers = client.get(path, auth=None).headers
        policy = dict(each.split(" ", 1) for each in headers["Content-Security-Policy"].split("; "))
        assert policy["default-src"] == "'none'" and policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert policy["frame-ancestors"] == "'none'" and headers["X-Frame-Options"] == "DENY"
        assert (headers["X-Content-Type-Options"], headers["Referrer-Policy"]) == ("nosniff", "no-referrer")


def test_nothing_in_it_is_inline() -> None:
    text = (ui.DIRECTORY / "index.html").read_text()
    assert not re.search(r"<script(?![^>]*src=)|<style|\son\w+=|style=", text)
    ours = [path for path in ui.DIRECTORY.rglob("*.js") if "vendor" not in path.parts]
    assert not [
        path.name for path in ours if re.search(r"innerHTML|insertAdjacentHTML|\beval\(|new Function|document\.write", path.read_text())
    ]


def test_compressed_and_kept(client: Client) -> None:
    plain = client.get("/ui/style.css", auth=None)
    packed = client.get("/ui/style.css", auth=None, headers={"accept-encoding": "br, gzip"})
    assert packed.headers["Content-Encoding"] == "gzip" and gzip.decompress(packed.body) == plain.body
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Cache-Control"] == "no-cache" and packed.headers["ETag"] != plain.headers["ETag"]
    again = client.get("/ui/style.css", auth=None, headers={"if-none-match": plain.headers["ETag"]})
    assert (again.status, again.body) == (304, b"") and "Content-Security-Policy" in again.headers


@pytest.mark.parametrize(
    "name", ["none.js", "../files.py", "..%2Fassembly.py", "vendor", "vendor/LICENSES.txt", "vendor/vendor.json", "a%00.js"]
)
def test_no_other_file_is_served(shared_client: Client, name: str) -> None:
    got = shared_client.get(f"/ui/{name}", auth=None)
    assert got.status in (401, 404) and "WWW-Authenticate" not in got.headers


def test_which_views_the_server_has(client: Client) -> None:
    got = client.get("/ui/views.json", auth=None)
    assert (got.status, got.headers["Content-Type"], got.json) == (200, "application/json", {"fleet": False})


def test_other_methods_and_the_way_there(client: Client) -> None:
    assert (client.get("/ui", auth=None).status, client.get("/ui", auth=None).headers["Location"]) == (308, "ui/")
    refused = client.post("/ui/", {}, auth=None)
    assert (refused.status, refused.headers["Allow"]) == (405, "GET, HEAD")


def test_a_setting_switches_it_off(client: Client) -> None:
    client.app.services.settings = replace(client.app.services.settings, disable_ui=True)
    for path in ("/ui", "/ui/", "/ui/main.js"):
        got = client.get(path, auth=None)
        assert got.status == 404 and "WWW-Authenticate" not in got.headers


def test_a_browser_is_led_to_it_and_a_program_is_not(client: Client) -> None:
    got = client.get("/", auth=None, headers={"Accept": "text/html,*/*;q=0.8"})
    assert (got.status, got.headers["Location"]) == (307, "ui/")
    assert client.get("/", auth=None).status == 401
    client.app.services.settings = replace(client.app.services.settings, disable_ui=True)
    assert client.get("/", auth=None, headers={"Accept": "text/html"}).status == 401


def test_the_whole_page_is_small() -> None:
    sizes = {path.name: len(gzip.compress(path.read_bytes(), 9)) for path in ui.DIRECTORY.rglob("*") if path.suffix in ui.TYPES}
    assert sum(sizes.values()) <= 150_000, sizes


def test_what_is_vendored_is_what_was_made() -> None:
    directory = ui.DIRECTORY / "vendor"
    made = json.loads((directory / "vendor.json").read_text())
    assert {path.name for path in directory.iterdir()} == {*made["sha256"], "vendor.json"}
    for name, digest in made["sha256"].items():
        assert hashlib.sha256((directory / name).read_bytes()).hexdigest() == digest, name
    lock = json.loads((Path(__file__).parents[3] / "packaging/page/package-lock.json").read_text())["packages"]
    licences = (directory / "LICENSES.txt").read_text()
    for name, row in made["packages"].items():
        assert lock[f"node_modules/{name}"]["version"] == row["version"] and lock[f"node_modules/{name}"]["integrity"] == row["integrity"]
        assert f"{name} {row['version']} ({row['license']})" in licences
