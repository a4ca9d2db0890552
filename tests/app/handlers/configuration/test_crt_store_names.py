"""Crt-stores and their certificates under other names, and what names them by a word of both; HAProxy judges each result."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.app.client import CONFIG, Client, settings
from tests.haproxy import binaries
from tests.tls.pems import made

TEXT = """\
global
  crt-base {ssl}

defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s

crt-store
  load crt a.pem alias one
  load crt b.pem

crt-store shop
  load crt c.pem
  load crt {ssl}/d.pem
  load crt e.pem alias c.pem.old

crt-store # odd
  load crt e.pem alias two

frontend f
  bind 127.0.0.1:8443 ssl crt @/one crt b.pem crt "@shop/c.pem" crt @shop{ssl}/d.pem crt @/two crt {ssl}/b.pem crt @shop/c.pem.old
  bind 127.0.0.1:8444 ssl crt-list {ssl}/l.crtlist

backend b
  server s 127.0.0.1:1 ssl verify none crt @/one
"""
LIST = """\
# @/one
@/one [alpn h2] one.example
b.pem @/one
  @shop/c.pem

@shop{ssl}/d.pem
@/two
"""
FIRST, SECOND = "unnamed_crt_store_1", "unnamed_crt_store_2"
# The object by its path, the member that names it, its new name, and what of the text and the list is replaced.
ROWS = [
    (
        FIRST,
        "name",
        "web",
        {"crt-store\n  load crt a": "crt-store web\n  load crt a", "@/one": "@web/one", " b.pem": " @web/b.pem", "\nb.pem": "\n@web/b.pem"},
    ),
    (SECOND, "name", "web", {"crt-store #": "crt-store web #", "@/two": "@web/two"}),
    ("shop", "name", "web", {"crt-store shop": "crt-store web", "@shop/": "@web/"}),
    (
        "shop/crt_loads/c.pem",
        "certificate",
        "new.pem",
        {"load crt c.pem": "load crt new.pem", '@shop/c.pem"': '@shop/new.pem"', "@shop/c.pem\n": "@shop/new.pem\n"},
    ),
    (
        "shop/crt_loads/c.pem",
        "certificate",
        "{ssl}/new.pem",
        {"load crt c.pem": "load crt {ssl}/new.pem", '@shop/c.pem"': '@shop{ssl}/new.pem"', "@shop/c.pem\n": "@shop{ssl}/new.pem\n"},
    ),
    (
        "shop/crt_loads/{ssl}/d.pem",
        "certificate",
        "new.pem",
        {"load crt {ssl}/d.pem": "load crt new.pem", "@shop{ssl}/d.pem": "@shop/new.pem"},
    ),
    ("shop/crt_loads/e.pem", "certificate", "new.pem", {"load crt e.pem alias c": "load crt new.pem alias c"}),
    (f"{FIRST}/crt_loads/b.pem", "certificate", "new.pem", {" b.pem": " new.pem", "\nb.pem": "\nnew.pem"}),
    (f"{SECOND}/crt_loads/e.pem", "certificate", "new.pem", {"load crt e.pem alias two": "load crt new.pem alias two"}),
]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    (ssl := tmp_path / "ssl").mkdir()
    for name in ("a", "b", "c", "d", "e", "new"):
        (ssl / f"{name}.pem").write_text(made(f"{name}.example").pem)
    (ssl / "l.crtlist").write_text(LIST.format(ssl=ssl))
    given = settings(tmp_path, haproxy_bin=str(binaries.newest()), validate_cmd="")
    with Client(given, TEXT.format(ssl=ssl)) as client:
        yield client


@pytest.mark.parametrize("road", ["put", "patch", "rename"])
@pytest.mark.parametrize(("path", "member", "name", "replaced"), ROWS, ids=[f"{path} {name}" for path, _, name, _ in ROWS])
def test_what_names_it_follows(client: Client, road: str, path: str, member: str, name: str, replaced: dict[str, str]) -> None:
    ssl = Path(client.settings.ssl_certs_dir)
    wanted, before = name.format(ssl=ssl), {file: file.read_text() for file in (client.file, ssl / "l.crtlist")}
    store, _, load = path.format(ssl=ssl).partition("/crt_loads/")
    one = f"{CONFIG}/crt_stores/{store}" + (f"/crt_loads/{quote(load, safe='')}" if load else "")
    if road == "rename":
        object_ = f"crt_store/{store}" + (f"/crt_load/{quote(load, safe='')}" if load else "")
        got = client.post("/v3/sidecar/rename?version=1", {"object": object_, "to": wanted})
    else:
        body = {member: wanted} if road == "patch" else {**client.get(one).json, member: wanted}
        got = getattr(client, road)(f"{one}?version=1", body)
    assert got.status in (200, 202), got
    for file, text in before.items():
        for old, new in replaced.items():
            text = text.replace(old.format(ssl=ssl), new.format(ssl=ssl))
        if file == client.file and store == FIRST and not load:
            text = text.replace("load crt @web/b.pem", "load crt b.pem").replace(f"{ssl}/b.pem", "@web/b.pem")
        elif file == client.file and store == FIRST:
            text = text.replace(f"{ssl}/b.pem", "new.pem")
        assert file.read_text().partition("global\n")[2] == text.partition("global\n")[2]
    ran = subprocess.run([binaries.newest(), "-c", "-f", str(client.file)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
