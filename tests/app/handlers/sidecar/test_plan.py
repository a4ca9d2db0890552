"""What only this server offers; called as handlers, whatever the document declares by now."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dataplaneapi.handlers.sidecar.plan import as_dict
from haproxy_native.check.messages import Message
from haproxy_native.commit.preview import Preview
from haproxy_native.editing.object_names import ObjectPlace
from haproxy_native.editing.resources import resources
from haproxy_native.planning.effects import Effect
from haproxy_native.planning.outcome import Reason
from haproxy_native.request_context import NOBODY
from tests.app.authority import Authority
from tests.app.client import CONFIG, CONFIGURATION, Client, serving
from tests.haproxy.process import free_port
from tests.haproxy.sidecar import Sidecar

PLAN, RAW = "/v3/sidecar/plan", "/v3/services/haproxy/configuration/raw"
PLACE = ObjectPlace(resources()["servers"], None, "")


def test_a_plan_as_data() -> None:
    preview = Preview(
        "-a\n+b\n",
        [Effect("backend/b", "mode", None, "tcp", PLACE), Effect("backend/b/server/s", "", {"name": "s"}, None, PLACE)],
        ["set x"],
        [Reason("it is so", "backend b", 7, "mode"), Reason("unknown")],
        False,
        [Message("alert", "no", line=3)],
    )
    assert as_dict(NOBODY, preview) == {
        "diff": "-a\n+b\n",
        "effects": [{"object": "backend/b", "member": "mode", "new": "tcp"}, {"object": "backend/b/server/s", "old": {"name": "s"}}],
        "commands": ["set x"],
        "reload": True,
        "reasons": [{"section": "backend b", "line": 7, "keyword": "mode", "reason": "it is so"}, {"reason": "unknown"}],
        "valid": False,
        "messages": [{"severity": "alert", "text": "no", "line": 3}],
    }


def test_of_a_text(client: Client) -> None:
    text = CONFIGURATION.replace("maxconn 1000", "maxconn 5").encode()
    shown = client.post(PLAN, text, headers={"Content-Type": "text/plain"}).json
    assert "+  maxconn 5" in shown["diff"]
    assert (shown["valid"], shown["reload"], bool(shown["reasons"])) == (True, True, True)
    (effect,) = shown["effects"]
    assert (effect["object"], effect["member"], effect["new"]) == ("global", "performance_options", {"maxconn": 5})
    assert client.file.read_text() == CONFIGURATION


def test_of_lines_that_are_added(client: Client) -> None:
    """A raw push of the planned text adds them, unless the configuration has changed since."""
    tag = dict(client.get(RAW).headers)["ETag"]
    shown = client.post(f"{PLAN}?add=ring").json
    assert "+ring state-events" in shown["diff"] and "log ring@state-events" in shown["diff"] and shown["valid"] and shown["reload"]
    assert client.file.read_text() == CONFIGURATION
    push = {"Content-Type": "text/plain", "If-Match": tag}
    assert client.post(RAW, shown["text"].encode(), headers=push).status == 202
    assert "ring state-events" in client.file.read_text()
    assert client.post(RAW, shown["text"].encode(), headers=push).status == 412
    again = client.post(f"{PLAN}?add=ring").json
    assert again["diff"] == "" and "text" not in again


def test_a_question_whether_a_plan_may_be_carried_out_leaves_it(client: Client) -> None:
    declared = {"backends": [{"name": "b"}]}
    token = client.put("/v3/sidecar/apply?owner=a&dry_run=true", declared).json["plan_token"]
    question = {"method": "PUT", "path": f"/v3/sidecar/apply?plan={token}"}
    for _ in range(2):
        assert client.post("/v3/sidecar/access/check", question).json == {"allowed": True, "reload": True}
    assert client.put(question["path"], None).status == 202
    assert client.post("/v3/sidecar/access/check", question).json["code"] == 404


def test_lines_are_added_to_nothing_else(client: Client) -> None:
    for query, body in (("&transaction_id=x", None), ("&file=a", None), ("", b"global\n")):
        refused = client.post(f"{PLAN}?add=ring{query}", body, headers={"Content-Type": "text/plain"})
        assert refused.status == 400 and "add in query plans lines for the current configuration" in refused.message, refused.body


def test_of_a_transaction(client: Client) -> None:
    id_ = client.post("/v3/services/haproxy/transactions?version=1").json["id"]
    client.post(f"{CONFIG}/backends?transaction_id={id_}", {"name": "be1"})
    assert "+backend be1" in client.post(f"{PLAN}?transaction_id={id_}").json["diff"]
    assert client.get(f"{CONFIG}/version").json == 1


@pytest.mark.parametrize(("query", "body"), [("", None), ("?transaction_id=x", b"global\n")])
def test_of_both_or_neither(shared_client: Client, query: str, body: bytes | None) -> None:
    got = shared_client.post(PLAN + query, body, headers={"Content-Type": "text/plain"})
    assert (got.status, "?transaction_id= of a transaction" in got.message) == (400, True)


def form(*parts: tuple[str, str | None, bytes]) -> tuple[bytes, dict[str, str]]:
    """Body and headers; a part is its name, the name of its file and its content."""
    body = b""
    for name, file, content in parts:
        about = f'; filename="{file}"' if file is not None else ""
        body += f'--edge\r\nContent-Disposition: form-data; name="{name}"{about}\r\n\r\n'.encode() + content + b"\r\n"
    return body + b"--edge--\r\n", {"Content-Type": "multipart/form-data; boundary=edge"}


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    directory = tmp_path / "temporary"
    directory.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    yield directory
    assert list(directory.iterdir()) == []


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (
            [("mops", "x.map", b"a b\n")],
            "part mops, x.map: unknown, send configuration, maps, acls, general, ssl_certificates, ssl_crt_lists",
        ),
        ([("maps", "x.map", b"a b\n"), ("maps", "x", b"a b\n")], "part maps, x: the form already has a part for x.map"),
        ([("maps", "../x.map", b"a b\n")], "part maps, ../x.map: the file name points outside the directory; send only its last part"),
        ([("general", "..", b"x\n")], "part general, ..: the file name points outside the directory; send only its last part"),
        ([("maps", None, b"a b\n")], "part maps: no file name: each of these parts needs one"),
        ([("acls", "x", b"a\n")], "part acls, x: there is no directory for acls: set dataplaneapi.resources.acl_dir"),
        ([("ssl_certificates", "site.pem", b"no certificate\n")], "part ssl_certificates, site.pem: "),
        (
            [("configuration", None, b"global\n"), ("configuration", "haproxy.cfg", b"global\n")],
            "haproxy.cfg: the form already has a part for this file of the",
        ),
        ([("configuration", "other.cfg", b"global\n")], "part configuration, other.cfg: other.cfg is not one of the configuration's files"),
        ([], "the form has no part"),
    ],
)
def test_forms_that_are_refused(shared_client: Client, temporary: Path, parts: list[tuple[str, str | None, bytes]], said: str) -> None:
    body, headers = form(*parts)
    got = shared_client.post(PLAN, body, headers=headers)
    assert (got.status, said in got.message) == (400, True), got.message


def test_a_form_that_is_cut_short(client: Client, temporary: Path) -> None:
    body, headers = form(("maps", "x.map", b"a b\n"))
    got = client.post(PLAN, body[:-6], headers=headers)
    assert (got.status, got.message) == (400, "the form ends before its closing boundary")


def test_a_form_and_a_transaction(client: Client, temporary: Path) -> None:
    body, headers = form(("maps", "x.map", b"a b\n"), ("configuration", None, b"global\n"))
    got = client.post(f"{PLAN}?transaction_id=x", body, headers=headers)
    assert (got.status, "?transaction_id= of a transaction" in got.message) == (400, True)


def test_of_one_of_several_files(tmp_path: Path) -> None:
    other = tmp_path / "other.cfg"
    other.write_text("backend other\n")
    with serving(tmp_path, config_files_after=[str(other)]) as client:
        shown = client.post(f"{PLAN}?file=other.cfg", b"backend more\n", headers={"Content-Type": "text/plain"}).json
        assert "-backend other\n+backend more" in shown["diff"] and "frontend" not in shown["diff"]
        missing = client.post(f"{PLAN}?file=none.cfg", b"backend more\n", headers={"Content-Type": "text/plain"})
        assert (missing.status, missing.message.startswith("none.cfg is not one of the configuration's files")) == (404, True)
        assert other.read_text() == "backend other\n"


def test_a_whole_record(client: Client) -> None:
    id_ = client.post(f"{CONFIG}/backends?version=1", {"name": "be1"}).headers["Reload-Id"]
    shown = client.get(f"/v3/sidecar/reloads/{id_}").json
    assert (shown["id"], shown["status"], shown["verified"]) == (id_, "in_progress", False)
    assert shown["reasons"]
    missing = client.get("/v3/sidecar/reloads/2020-01-01-0")
    assert (missing.status, missing.message) == (404, "Reload with ID 2020-01-01-0 does not exist")


def conforms(sidecar: Sidecar, body: Any, schema: str) -> None:
    """To the schema that the server itself publishes, and nothing besides."""
    document = sidecar.get("/v3/specification_openapiv3").json()
    jsonschema.validate(body, {**document["components"]["schemas"][schema], "components": document["components"]})
    for shown, declared in ((body, schema), *((each, "reload_reason") for each in body["reasons"])):
        assert set(shown) <= set(document["components"]["schemas"][declared]["properties"])
    for message in body.get("messages", ()):
        assert set(message) <= set(document["components"]["schemas"]["haproxy_message"]["properties"])


def test_plans_beside_a_real_haproxy(sidecar: Sidecar) -> None:
    text = sidecar.haproxy.file.read_text()
    pid = sidecar.haproxy.worker_pid()

    def planned(old: str, new: str) -> Any:
        answer = sidecar.post(PLAN, text.replace(old, new, 1))
        assert answer.status_code == 200
        conforms(sidecar, answer.json(), "plan")
        return answer.json()

    live = planned("weight 10", "weight 30")
    assert (live["valid"], live["reload"], live["commands"]) == (True, False, ["set server app/one weight 30"])
    assert "-    server one" in live["diff"] and "weight 30   # the first" in live["diff"]
    reload = planned("roundrobin", "leastconn")
    line = text[: text.index("balance")].count("\n") + 1
    assert (reload["valid"], reload["reload"], reload["commands"]) == (True, True, [])
    assert (reload["reasons"][0]["section"], reload["reasons"][0]["line"], reload["reasons"][0]["keyword"]) == (
        "backend app",
        line,
        "balance",
    )
    wrong = planned("weight 10", "wieght 10")
    message = wrong["messages"][0]
    line = text[: text.index("server one")].count("\n") + 1
    assert (wrong["valid"], message["severity"], message["line"], message["section"]) == (False, "alert", line, "backend app from http")
    assert "'wieght'" in message["text"] and message["source"].startswith("server one")
    same = planned("weight 10", "weight 10")
    assert (same["diff"], same["commands"], same["reload"]) == ("", [], False)
    id_ = sidecar.transaction()
    sidecar.delete("backends/app/servers/two", transaction_id=id_)
    gone = sidecar.post(PLAN, transaction_id=id_).json()
    conforms(sidecar, gone, "plan")
    assert gone["commands"] == ["set server app/two state maint", "del server app/two"]
    unknown = sidecar.post(PLAN, transaction_id="00000000-0000-4000-8000-000000000000")
    assert (unknown.status_code, unknown.json()["code"]) == (400, 400)
    assert (sidecar.haproxy.file.read_text(), sidecar.version(), sidecar.haproxy.worker_pid()) == (text, 1, pid), "nothing changes"
    assert "10" in sidecar.haproxy.ask("get weight app/one").split()


@pytest.mark.parametrize("sidecar", [{"reload_delay": 600}], indirect=True)
def test_records_beside_a_real_haproxy(sidecar: Sidecar) -> None:
    """The first change waits until the second forces the reload of both."""
    pid = sidecar.haproxy.worker_pid()
    made = sidecar.post("backends", {"name": "more", "from": "http"}, version=1)
    path = f"/v3/sidecar/reloads/{made.headers['Reload-Id']}"
    conforms(sidecar, sidecar.get(path).json(), "reload_record")
    sidecar.post("backends", {"name": "most", "from": "http"}, version=2, force_reload=True)
    record = sidecar.get(path).json()
    conforms(sidecar, record, "reload_record")
    assert (record["status"], record["verified"], record["version"]) == ("succeeded", True, 3)
    assert (record["pid_before"], record["pid_after"]) == (pid, sidecar.haproxy.worker_pid())
    assert [reason["section"] for reason in record["reasons"]] == ["backend more", "backend most"]
    binds = "frontends/site/binds"
    assert sidecar.post(binds, {"name": "x", "address": "203.0.113.9", "port": 9}, version=3, force_reload=True).status_code == 400
    latest = f"{path.rpartition('-')[0]}-{int(path.rpartition('-')[2]) + 1}"
    refused = sidecar.get(latest).json()
    conforms(sidecar, refused, "reload_record")
    assert (refused["status"], refused["version"], refused["restored_version"], sidecar.version()) == ("failed", 4, 5, 5)
    assert "bind 203.0.113.9:9" in refused["refused"]
    assert "203.0.113.9" not in sidecar.haproxy.file.read_text()


@pytest.fixture
def site(tmp_path: Path) -> bytes:
    """A certificate with its key."""
    (tmp_path / "keys").mkdir()
    certificate, key = Authority(tmp_path / "keys").issue("site")
    return certificate.read_bytes() + key.read_bytes()


def of_set(sidecar: Sidecar, *parts: tuple[str, str | None, bytes], **parameters: str) -> Any:
    body, headers = form(*parts)
    answer = sidecar.client.post(PLAN, content=body, headers=headers, params=parameters)
    assert answer.status_code == 200, answer.text
    conforms(sidecar, answer.json(), "plan")
    return answer.json()


def test_a_set_beside_a_real_haproxy(sidecar: Sidecar, site: bytes) -> None:
    """A certificate and a map that the configuration needs and that are not there yet."""
    text, directory = sidecar.haproxy.file.read_text(), sidecar.directory
    bind = f"    bind 127.0.0.1:{free_port()} ssl crt {directory}/ssl_certs_dir/site.pem\n"
    route = f"    use_backend %[src,map_ip({directory}/maps_dir/nets.map,app)]\n"
    new = text.replace("    default_backend app\n", f"{bind}{route}    default_backend app\n", 1).encode()
    configuration, nets = ("configuration", None, new), ("maps", "nets.map", b"192.0.2.0/24 app\n")
    certificate = ("ssl_certificates", "site.pem", site)
    before = sorted(str(each) for each in directory.rglob("*"))
    whole = of_set(sidecar, configuration, nets, certificate)
    assert (whole["valid"], whole["reload"], whole["messages"]) == (True, True, [])
    assert "site.pem" in whole["diff"]
    map_plan, certificate_plan = whole["files"]
    assert (map_plan["store"], map_plan["name"], map_plan["reload"]) == ("maps", "nets.map", False)
    assert map_plan["diff"].endswith("+192.0.2.0/24 app\n")
    assert (certificate_plan["store"], certificate_plan["name"], "diff" in certificate_plan) == ("ssl_certificates", "site.pem", False)
    assert "PRIVATE" not in str(whole)
    for missing, parts, line in (("site.pem", [configuration, nets], bind), ("nets.map", [configuration, certificate], route)):
        wrong = of_set(sidecar, *parts)
        alert = next(each for each in wrong["messages"] if missing in each["text"])
        assert (wrong["valid"], alert["source"], alert["file"]) == (False, line.strip(), str(sidecar.haproxy.file))
        assert new.decode().splitlines()[alert["line"] - 1] == line.rstrip()
        assert str(directory / ("ssl_certs_dir" if missing == "site.pem" else "maps_dir") / missing) in alert["text"]
    made = {str(directory / each) for each in ("maps_dir", "ssl_certs_dir")}
    # The server notes there at any moment what it sees of HAProxy.
    notes = str(directory / "dataplane" / "engine")
    assert set(before) | made >= {each for each in map(str, directory.rglob("*")) if not each.startswith(notes)}
    assert not [each for each in made for _ in Path(each).iterdir()]
    assert sidecar.haproxy.file.read_text() == text


def test_a_list_of_certificates_and_a_base(sidecar: Sidecar, site: bytes) -> None:
    """A list names what comes with it by its path, and a relative path begins at a directory above."""
    text, directory = sidecar.haproxy.file.read_text(), sidecar.directory
    base = f"    crt-base {directory}\n"
    binds = f"    bind 127.0.0.1:{free_port()} ssl crt-list {directory}/ssl_certs_dir/all.txt\n    bind 127.0.0.1:{free_port()} ssl crt "
    new = text.replace("defaults http", f"{base}defaults http", 1).replace(
        "    default_backend", f"{binds}ssl_certs_dir/site.pem\n    default_backend", 1
    )
    parts = [
        ("configuration", None, new.encode()),
        ("ssl_crt_lists", "all.txt", f"{directory}/ssl_certs_dir/site.pem localhost\n".encode()),
    ]
    shown = of_set(sidecar, *parts, ("ssl_certificates", "site.pem", site))
    assert (shown["valid"], shown["messages"]) == (True, [])
    without = of_set(sidecar, *parts)
    assert not without["valid"] and any("site.pem" in each["text"] for each in without["messages"])


def test_files_without_a_text_and_with_a_transaction(sidecar: Sidecar) -> None:
    shown = of_set(sidecar, ("general", "page.http", b"HTTP/1.0 503 Sorry\r\n\r\nsorry\n"))
    assert (shown["valid"], shown["diff"], shown["reload"], shown["files"][0]["commands"]) == (True, "", False, [])
    id_ = sidecar.transaction()
    rule = {"type": "return", "return_content_type": "text/plain", "return_content_format": "file", "return_status_code": 200}
    made = sidecar.post(
        "frontends/site/http_request_rules/0",
        rule | {"return_content": f"{sidecar.directory}/general_storage_dir/a.txt"},
        transaction_id=id_,
    )
    assert made.status_code == 202, made.text
    assert of_set(sidecar, ("general", "a.txt", b"hello\n"), transaction_id=id_)["valid"]
    assert not of_set(sidecar, ("general", "b.txt", b"hello\n"), transaction_id=id_)["valid"]


def test_what_is_stored_already(sidecar: Sidecar, tmp_path: Path) -> None:
    """The difference is that from the stored file; what looks like a key is not shown."""
    body, headers = form(("file_upload", "nets.map", b"192.0.2.0/24 app\n"))
    assert sidecar.client.post("/v3/services/haproxy/storage/maps", content=body, headers=headers).status_code == 201
    shown = of_set(sidecar, ("maps", "nets.map", b"192.0.2.0/25 app\n"), ("general", "k.txt", b"-----BEGIN PRIVATE KEY-----\n"))
    assert "-192.0.2.0/24 app\n+192.0.2.0/25 app\n" in shown["files"][0]["diff"]
    assert "diff" not in shown["files"][1] and "PRIVATE" not in str(shown)
    assert (sidecar.directory / "maps_dir" / "nets.map").read_bytes() == b"192.0.2.0/24 app\n"
