"""Manage certificates as known programs do, each with its HTTP library. A TLS client checks the served certificate."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
import requests

from tests.acceptance.personas import JSON, Persona
from tests.acceptance.quick import PLAIN, SERVICES, Quick
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import USER
from tests.tls.pems import Made, authority, made
from tests.tls.site import served

CERTS, LISTS = f"{SERVICES}/storage/ssl_certificates", f"{SERVICES}/storage/ssl_crt_lists"
RUNTIME = f"{SERVICES}/runtime/ssl_certs"
TEXT = {"Content-Type": "text/plain"}
SITE = """
frontend web
    bind 127.0.0.1:{port} ssl crt {directory}/web.pem
    http-request return status 200
"""


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quick]:
    """Run a server and HAProxy with a listener on the port `site`, whose certificate is stored by the server."""
    directory = tmp_path_factory.mktemp("tls")
    stored, port = directory / "ssl_certs_dir", free_port()
    stored.mkdir()
    (stored / "web.pem").write_text(made("web.example.com", 100).pem)
    config = PLAIN.replace("{{stats}}", "{stats}") + SITE.format(port=port, directory=stored)
    with HAProxy(directory, config, binary=binaries.exactly("3.2")) as haproxy, Quick(haproxy) as running:
        running.site = port
        yield running


def url(sidecar: Quick, path: str) -> str:
    return f"http://127.0.0.1:{sidecar.port}{path}"


def stored(sidecar: Quick) -> Path:
    return sidecar.directory / "ssl_certs_dir"


def test_an_ingress_controller_that_compares_serials(sidecar: Quick) -> None:
    """It lists certificates, uploads with an unusual form field, updates after a 409, and uses the name of the upload in later calls."""
    leaf = made("example.com", 0xABCDEF0123, by=authority())
    chain = leaf.cert + authority().cert + leaf.private
    with httpx2.Client(base_url=url(sidecar, ""), auth=USER, timeout=60, verify=False) as client:
        assert "web.pem" in [row["storage_name"] for row in client.get(CERTS).json()]
        form: dict[str, Any] = {"file_upload": ("example.com.pem", chain, "application/octet-stream")}
        created = client.post(CERTS, files=form, data={"id": "example.com.pem"})
        assert created.status_code in (201, 202)
        assert "example_com.pem" in [row["storage_name"] for row in client.get(CERTS).json()]
        for name in ("example.com.pem", "example_com.pem"):
            shown = client.get(f"{CERTS}/{name}").json()
            assert (shown["serial"], shown["issuers"]) == (str(0xABCDEF0123), "Test Root")
        assert client.post(CERTS, files=form).status_code == 409
        fresh = made("example.com", 77, by=authority())
        updated = client.put(f"{CERTS}/example_com.pem", content=fresh.pem, headers=TEXT)
        assert (updated.status_code, updated.json()["serial"]) == (200, "77")
        assert client.put(f"{CERTS}/absent.pem", content=fresh.pem, headers=TEXT).status_code == 404
        assert client.delete(f"{CERTS}/web.pem").status_code == 409
        assert client.delete(f"{CERTS}/example.com.pem").status_code == 204


def test_a_controller_that_changes_what_runs(sidecar: Quick) -> None:
    """Slashes in the name of a certificate in memory are percent-encoded in the path."""
    new = made("web.example.com", 200)
    with httpx2.Client(base_url=url(sidecar, ""), auth=USER, timeout=60, verify=False) as client:
        name = f"{stored(sidecar)}/web.pem"
        assert name in [row["storage_name"] for row in client.get(RUNTIME).json()]
        put = client.put(f"{RUNTIME}/{quote(name, safe='')}", files={"file_upload": ("web.pem", new.pem)})
        assert (put.status_code, put.content) == (200, b"")
    assert served(sidecar.site, "web.example.com") == 200


def test_a_renewer_that_changes_memory_and_disk(sidecar: Quick) -> None:
    """It compares hexadecimal serial numbers, changes the certificate in memory, and then stores it without a reload, by POST or PUT."""
    new = made("web.example.com", 0x300)
    name = f"{stored(sidecar)}/web.pem"
    with requests.Session() as session:
        session.auth = USER
        shown = session.get(url(sidecar, f"{RUNTIME}/{quote(name, safe='')}"), timeout=60).json()
        assert {"not_after", "not_before", "serial", "issuers", "subject_alternative_names"} <= shown.keys()
        assert int(shown["serial"], 16) != new.serial
        put = session.put(url(sidecar, f"{RUNTIME}/{quote(name, safe='')}"), files={"file_upload": ("web.pem", new.pem)}, timeout=60)
        assert put.status_code in (200, 202)
        kept = session.put(url(sidecar, f"{CERTS}/web.pem?skip_reload=true"), data=new.pem, headers=TEXT, timeout=60)
        assert (kept.status_code, "Reload-Id" in kept.headers) == (200, False)
        again = session.get(url(sidecar, f"{RUNTIME}/{quote(name, safe='')}"), timeout=60).json()
        assert int(again["serial"], 16) == new.serial
        other = url(sidecar, f"{CERTS}/renewed.pem?skip_reload=true")
        assert session.put(other, data=new.pem, headers=TEXT, timeout=60).status_code == 404
        form = {"file_upload": ("renewed.pem", new.pem)}
        assert session.post(url(sidecar, f"{CERTS}?skip_reload=true"), files=form, timeout=60).status_code in (200, 201, 202)
        assert session.post(url(sidecar, f"{CERTS}?skip_reload=true"), files=form, timeout=60).status_code == 409
        assert session.put(other, data=new.pem, headers=TEXT, timeout=60).status_code == 200
        assert session.delete(other, timeout=60).status_code in (202, 204)
    assert served(sidecar.site, "web.example.com") == 0x300
    assert (stored(sidecar) / "web.pem").read_text() == new.pem


def test_a_deployer_of_lists(sidecar: Quick) -> None:
    """It reads a list, sends the list back with one more line, and requests a reload by an empty transaction."""
    new = made("list.example.com", 400)
    with requests.Session() as session, Persona(sidecar) as call:
        session.auth = USER
        put = session.put(url(sidecar, f"{CERTS}/list.pem"), data=new.pem, headers=TEXT, timeout=60)
        if put.status_code == 404:
            put = session.post(url(sidecar, CERTS), files={"file_upload": ("list.pem", new.pem)}, timeout=60)
        assert put.status_code in (200, 201, 202)
        text = f"# ours\n{stored(sidecar)}/web.pem\n"
        assert session.post(url(sidecar, LISTS), files={"file_upload": ("sites.txt", text)}, timeout=60).status_code in (201, 202)
        port = free_port()
        bind = {"name": "lists", "address": "127.0.0.1", "port": port, "ssl": True, "crt_list": f"{stored(sidecar)}/sites.txt"}
        sidecar.reloaded(call.raw("POST", "frontends/web/binds", bind, version=call.version()))
        fetched = session.get(url(sidecar, f"{LISTS}/sites.txt"), timeout=60)
        assert (fetched.text, fetched.headers["Content-Type"]) == (text, "application/octet-stream")
        more = f"{text}{stored(sidecar)}/list.pem list.example.com\n"
        sent = session.put(url(sidecar, f"{LISTS}/sites.txt"), data=more.encode(), headers=TEXT, timeout=60)
        assert (sent.status_code, "Reload-Id" in sent.headers) == (200, False)
        assert served(port, "list.example.com") == 400
        assert sidecar.reloaded(call.commit(call.begin()))["status"] == "succeeded"
    assert served(port, "list.example.com") == 400


def test_an_operator_that_stores_before_it_configures(sidecar: Quick) -> None:
    """It uploads files that the new configuration names, validates the text, and pushes it. After a 400 it would never try again."""
    leaf: Made = made("op.example.com", 500, by=authority())
    pem = leaf.cert + authority().cert + leaf.private
    with Persona(sidecar, JSON) as call:
        assert call("GET", f"{CERTS}/tls-op.pem", expect=404)["code"] == 404
        files = {"file_upload": ("tls-op.pem", pem)}
        with httpx2.Client(auth=USER, timeout=60, verify=False) as client:
            assert client.post(url(sidecar, CERTS), files=files).status_code in (201, 202)
        assert call("GET", f"{CERTS}/tls-op.pem", expect=200)["serial"] == "500"
        port, version = free_port(), call.version()
        text = call("GET", "raw", expect=200)
        wanted = (
            f"{text}\nfrontend op\n    bind 127.0.0.1:{port} ssl crt {stored(sidecar)}/tls-op.pem\n    http-request return status 200\n"
        )
        checked = call.raw("POST", "raw", wanted, only_validate="true", version=version)
        assert (checked.is_success, "Reload-Id" in checked.headers, call.version()) == (True, False, version)
        broken = call.raw("POST", "raw", wanted.replace("tls-op.pem", "none.pem"), only_validate="true", version=version)
        assert (broken.status_code, "none.pem" in broken.text[:4096]) == (400, True)
        sidecar.reloaded(call.raw("POST", "raw", wanted, version=version))
        assert served(port, "op.example.com") == 500
        assert call.raw("POST", "raw", wanted, version=version).status_code == 409
        fresh = made("op.example.com", 501, by=authority())
        assert call.raw("PUT", f"{CERTS}/tls-op.pem", fresh.pem).status_code == 200
        assert served(port, "op.example.com") == 501


def test_no_word_of_a_key_is_logged_or_answered(sidecar: Quick) -> None:
    """The key was refused by the server, by HAProxy, or as a malformed form."""
    one, other = made("k.example.com"), made("l.example.com")
    lines = {line for pair in (one, other) for line in pair.private.splitlines() if len(line) > 30 and not line.startswith("-----")}
    answers = []
    with httpx2.Client(base_url=url(sidecar, ""), auth=USER, timeout=60, verify=False) as client:
        for pem in (one.cert + other.private, one.private, one.pem.replace("A", "B"), one.pem * 30):
            answers.append(client.put(f"{CERTS}/web.pem", content=pem, headers=TEXT))
            for target in (CERTS, RUNTIME):
                answers.append(client.post(target, files={"file_upload": ("k.pem", pem)}))
            answers.append(
                client.put(f"{RUNTIME}/{quote(str(stored(sidecar) / 'web.pem'), safe='')}", files={"file_upload": ("k.pem", pem)})
            )
            answers.append(client.post(CERTS, json={"file_upload": pem}))
            client.delete(f"{CERTS}/k.pem"), client.delete(f"{RUNTIME}/k.pem")
    assert [answer.status_code for answer in answers].count(400) > 4
    for text in (sidecar.log.read_text(), *(answer.text for answer in answers)):
        assert not any(line in text for line in lines)
