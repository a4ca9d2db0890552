"""Changes of one line, beside a real server and HAProxy."""

import json
from pathlib import Path

from tests.acceptance.quick import Quick
from tests.app.authority import Authority
from tests.app.ctl.calls import Ctl, config
from tests.haproxy.process import HAProxy, free_port

HISTORY = "/v3/sidecar/history"


def test_a_server(ctl: Ctl, sidecar: Quick) -> None:
    """In maintenance and back, in the process; its weight in file and process."""
    assert ctl.output("maint", "shop/web1", "--dry-run") == "live: set server shop/web1 state maint\n"
    assert ctl.output("ready", "shop/web1", "--dry-run") == "nothing would change\n"
    assert "404" in ctl.refusal(1, "maint", "shop/web9", "--dry-run")
    assert "MAINT" not in sidecar.stat("web1", "shop")["status"]
    done, entry = ctl.output("maint", "shop/web1", "-m", "new disk").splitlines()
    assert done == "backend/shop/server/web1: maint, down"
    assert entry == f"entry {sidecar.get(HISTORY).json()[0]['id']}, runtime: admin_state ready → maint on backend/shop/server/web1"
    assert "MAINT" in sidecar.stat("web1", "shop")["status"]
    assert sidecar.get(HISTORY).json()[0]["message"] == "new disk"
    assert ctl.output("ready", "backend/shop/server/web1").startswith("backend/shop/server/web1: ready, ")
    assert "MAINT" not in sidecar.stat("web1", "shop")["status"]
    text = sidecar.text()
    planned = ctl.output("weight", "shop/web1", "40", "--dry-run")
    assert "+    server web1 127.0.0.1:1 weight 40\n" in planned and "live: set server shop/web1 weight 40\n" in planned, planned
    assert sidecar.text() == text
    assert ctl.output("weight", "shop/web1", "40").endswith(", live: weight 10 → 40 on backend/shop/server/web1\n")
    assert "server web1 127.0.0.1:1 weight 40" in sidecar.text() and sidecar.stat("web1", "shop")["weight"] == "40"
    assert ctl.output("weight", "shop/web1", "40") == "nothing was changed\n"
    assert "404 missing object: server web9 does not exist in shop backend (PATCH" in ctl.refusal(1, "weight", "shop/web9", "1")
    assert ": 404 missing object: server xxx" in ctl.refusal(1, "weight", f"shop/{'x' * 300}", "1")
    for word in ("web1", "shop/web1/x", "backend/shop/server"):
        assert f"{word} is not a server; write shop/web1" in ctl.refusal(2, "ready", word)


def test_members(ctl: Ctl, sidecar: Quick) -> None:
    """Values are of the types that the document has: texts, numbers, times, sizes, lists; what is empty goes."""
    ctl.output("set", "backend/shop", "balance.algorithm=first", "cookie.name=7", "description=8", "server_timeout=30s", "--wait")
    shown = json.loads(ctl.output("get", "backend/shop", "-o", "json"))
    assert (shown["balance"], shown["cookie"]["name"], shown["description"]) == ({"algorithm": "first"}, "7", "8")
    assert shown["server_timeout"] == 30_000
    ctl.output("set", "backend/shop", "compression.types=text/html,text/css", "cookie=", "--wait")
    shown = json.loads(ctl.output("get", "backend/shop", "-o", "json"))
    assert shown["compression"]["types"] == ["text/html", "text/css"] and "cookie" not in shown
    assert ", live: weight 20 → 7 on " in ctl.output("set", "backend/shop/server/web2", "weight=7")
    assert sidecar.stat("web2", "shop")["weight"] == "7"
    assert "deny" in ctl.output("set", "backend/shop/http_request_rule/0", "deny_status=429", "--dry-run")
    assert "is not MEMBER=VALUE" in ctl.refusal(2, "set", "backend/shop", "mode")
    assert "weight in body must be an integer, not a string" in ctl.refusal(1, "set", "backend/shop/server/web2", "weight=heavy")
    assert 'wieght in body is not known; did you mean "weight"? (PATCH ' in ctl.refusal(1, "set", "backend/shop/server/web2", "wieght=3")
    assert "is not an object of the configuration" in ctl.refusal(2, "set", "backend", "mode=http")


def test_a_dry_run_shows_the_lines_that_would_change(ctl: Ctl, sidecar: Quick) -> None:
    text = sidecar.text()
    planned = ctl.output("set", "backend/shop", "balance.algorithm=leastconn", "fullconn=9", "--dry-run").splitlines()
    assert [line for line in planned[2:] if line[:1] in "+-"] == [
        "-    balance roundrobin",
        "+    balance leastconn",
        "+    fullconn 9",
    ]
    assert planned[-1].startswith("reload: ") and sidecar.text() == text
    assert ctl.output("set", "backend/shop", "balance.algorithm=roundrobin", "--dry-run") == "nothing would change\n"


def test_new_objects(ctl: Ctl, sidecar: Quick) -> None:
    text = sidecar.text()
    words = ("create", "backend/shop/server/web3", "address=127.0.0.1", "port=3", "weight=30")
    planned = ctl.output(*words, "--dry-run")
    assert "+    server web3 127.0.0.1:3 weight 30\n" in planned and "\nlive: add server shop/web3 " in planned, planned
    assert sidecar.text() == text
    assert ctl.output(*words, "-m", "more room").endswith(": create backend/shop/server/web3\n")
    assert sidecar.line("server web3") == "server web3 127.0.0.1:3 weight 30" and sidecar.stat("web3", "shop")["weight"] == "30"
    assert sidecar.get(HISTORY).json()[0]["message"] == "more room"
    ctl.output("create", "backend", "new", "from=plain", "mode=http", "balance.algorithm=first", "server_timeout=30s")
    shown = json.loads(ctl.output("get", "backend/new", "-o", "json"))
    assert (shown["mode"], shown["balance"]["algorithm"], shown["server_timeout"]) == ("http", "first", 30_000)
    ctl.output("create", "frontend/site/bind/two", "address=127.0.0.1", f"port={free_port()}")
    ctl.output("create", "userlist/staff")
    ctl.output("create", "userlist/staff/user/ann", "password=x", "secure_password=false")
    assert ctl.output("get", "userlist/staff/user", "-o", "name") == "userlist/staff/user/ann\n"


def test_a_new_rule_is_the_last_one_or_at_an_index(ctl: Ctl, sidecar: Quick) -> None:
    rule = ("type=deny", "deny_status=429", "cond=if", "cond_test=own")
    ctl.output("create", "backend/shop/http_request_rule", *rule)
    ctl.output("create", "backend/shop/http_request_rule/0", "type=allow")
    rules = [line.strip() for line in sidecar.text().splitlines() if "http-request" in line]
    assert rules == ["http-request allow", "http-request deny if own", "http-request deny deny_status 429 if own"]


def test_an_object_that_cannot_be_created(ctl: Ctl, sidecar: Quick) -> None:
    text = sidecar.text()
    assert "409 object already exists: backend shop" in ctl.refusal(3, "create", "backend/shop")
    assert "global exists already; dataplaneapi ctl set global MEMBER=VALUE changes it" in ctl.refusal(3, "create", "global")
    assert "address in body is required" in ctl.refusal(1, "create", "backend/shop/server/web3")
    assert "backend none does not exist" in ctl.refusal(1, "create", "backend/none/server/a", "address=127.0.0.1")
    assert "mode in body should be one of [http tcp log]" in ctl.refusal(1, "create", "backend/new", "mode=htp")
    assert 'prt in body is not known; did you mean "port"?' in ctl.refusal(1, "create", "backend/shop/server/a", "address=x", "prt=3")
    refused = ctl.refusal(2, "create", "backend/new", "balance=first")
    assert "balance cannot be set to 'first', because it has members: balance.algorithm, " in refused
    assert "sets a member of mode, which" in ctl.refusal(2, "create", "backend/new", "mode=http", "mode.x=first")
    assert "balance cannot be set to 'first', because it has members" in ctl.refusal(2, "set", "backend/shop", "balance=first")
    assert "'mode=' has no value; omit the member" in ctl.refusal(2, "create", "backend/new", "mode=")
    assert "name=other contradicts the name in backend/new" in ctl.refusal(2, "create", "backend/new", "name=other")
    for words in (["backend"], ["backend/shop/server"], ["map/hosts.map"], ["reload/1"]):
        assert f"{words[0]} is not the name of an object of the configuration" in ctl.refusal(2, "create", *words)
    assert "an object is required before its members" in ctl.refusal(2, "create", "mode=http")
    assert "the following arguments are required: OBJECT; see" in ctl.refusal(2, "create")
    assert sidecar.text() == text


def test_a_change_that_needs_a_reload_is_not_called_live(ctl: Ctl, sidecar: Quick) -> None:
    done = ctl("set", "backend/shop", "fullconn=100", "-o", "json")
    assert json.loads(done.stdout)["reload"] is True
    assert "is scheduled; " in done.stderr and "live" not in done.stderr and ", scheduled: fullconn set to 100 on " in done.stderr
    done = ctl("set", "backend/shop", "fullconn=101", "--wait")
    assert "reload 20" in done.stderr and ", reloaded: fullconn 100 → 101 on " in done.stdout, done


def test_objects_go(ctl: Ctl, sidecar: Quick) -> None:
    text = sidecar.text()
    planned = ctl.output("delete", "backend/shop/http_request_rule/0", "--dry-run")
    assert "-    http-request deny if own\n" in planned and "reload: " in planned and sidecar.text() == text
    done = ctl("delete", "backend/shop/http_request_rule/0", "--wait", "-m", "too strict")
    assert done.returncode == 0 and "succeeded" in done.stderr and "http-request" not in sidecar.text(), done
    assert sidecar.get(HISTORY).json()[0]["message"] == "too strict"
    assert "shop" in ctl.refusal(1, "delete", "backend/shop"), "the frontend refers to it"


def test_a_map(ctl: Ctl, sidecar: Quick, tmp_path: Path) -> None:
    assert sidecar.client.post("/v3/services/haproxy/storage/maps", files={"file_upload": ("hosts.map", "a.example shop\n")}).is_success
    where = Path(sidecar.get("/v3/services/haproxy/storage/maps").json()[0]["file"])
    assert "hosts.map is stored, but not loaded" in ctl.refusal(1, "map", "add", "hosts.map", "b.example", "shop")
    rule = {"type": "set-var", "var_name": "be", "var_scope": "txn", "var_expr": f"req.hdr(host),map({where})"}
    assert sidecar.post("backends/shop/http_request_rules/0", rule, version=sidecar.version(), force_reload=True).is_success
    assert ctl.output("map", "add", "hosts.map", "b.example", "shop").endswith(", live: map/hosts.map: 1 entry added\n")
    ctl.output("map", "add", "hosts.map", "a.example", "other")
    assert [line.split()[-2:] for line in where.read_text().splitlines()] == [["a.example", "other"], ["b.example", "shop"]]
    assert "b.example shop" in sidecar.haproxy.ask(f"show map {where}")
    ctl.output("map", "del", "hosts.map", "a.example")
    assert where.read_text() == "b.example shop\n" and "b.example" in ctl.output("map", "show", "hosts.map")
    assert "hosts.map" in ctl.output("map", "list")
    assert "map add takes MAP KEY VALUE" in ctl.refusal(2, "map", "add", "hosts.map", "c.example")


def test_a_certificate(ctl: Ctl, sidecar: Quick, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    both = tmp_path / "shop.pem"
    both.write_bytes(b"".join(file.read_bytes() for file in authority.issue("first")))
    ctl.output("cert", "put", str(both))
    path = "/v3/services/haproxy/storage/ssl_certificates/shop.pem"
    before = sidecar.get(path).json()["serial"]
    ctl.output("cert", "put", "-", "--name", "shop.pem", text=b"".join(file.read_bytes() for file in authority.issue("second")))
    assert "shop.pem" in ctl.output("cert", "list") and sidecar.get(path).json()["serial"] != before
    assert ctl.output("cert", "delete", "shop.pem", "--dry-run") == "~ ssl_certificates/shop.pem\n"
    assert ctl.output("cert", "delete", "shop.pem").endswith(", live: delete certificate/shop.pem\n")
    assert "shop.pem" not in ctl.output("cert", "list")


def test_the_whole_text(ctl: Ctl, sidecar: Quick, tmp_path: Path) -> None:
    got = ctl.output("raw", "get")
    assert got == sidecar.text()
    file = tmp_path / "new.cfg"
    file.write_text(got.replace("weight 10", "weight 12"))
    assert "weight 12" in ctl.output("raw", "put", str(file), "--dry-run") and sidecar.text() == got
    assert ", live: weight 10 → 12 on " in ctl.output("raw", "put", str(file)), "its first lines have the version"
    assert "version mismatch" in ctl.refusal(3, "raw", "put", str(file))
    ctl.output("raw", "put", "-", "--force", "--wait", text=got)
    assert "weight 12" not in sidecar.text()
    assert "add --version N" in ctl.refusal(2, "raw", "put", "-", text="backend x\n")
    assert ctl("raw", "put", "-", "--dry-run", text="backend x\n  nonsense\n").returncode == 1


def test_the_whole_text_that_the_server_has_not_written_yet(tmp_path: Path) -> None:
    with HAProxy(tmp_path, config()) as haproxy, Quick(haproxy) as sidecar:
        ctl, bare = Ctl(sidecar.port, tmp_path), sidecar.text()
        got = ctl.output("raw", "get")
        assert "# _version" not in bare and got == f"# _version=1\n{bare}"
        assert "_version" not in ctl.output("raw", "put", "-", "--dry-run", text=got)
        ctl.output("raw", "put", "-", text=got.replace("weight 10", "weight 12"))
        assert sidecar.line("server web1 127.0.0.1:1 weight 12") and sidecar.text().count("# _version=2\n") == 1
        assert "version mismatch" in ctl.refusal(3, "raw", "put", "-", text=got)


def test_a_reload_and_what_differs(ctl: Ctl, sidecar: Quick) -> None:
    done = ctl("reload")
    assert done.returncode == 0 and done.stdout.startswith("reload 20") and done.stdout.endswith(" succeeded\n"), done
    assert ctl.output("drift") == "file and process agree\n"
    sidecar.haproxy.ask("set server shop/web1 weight 3")
    differing = ctl("drift")
    assert differing.returncode == 10 and "backend/shop/server/web1 weight: " in differing.stdout, differing
    sidecar.haproxy.ask("set server shop/web1 weight 10")
