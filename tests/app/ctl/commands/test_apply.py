"""`ctl apply` and `ctl plan` beside a real server."""

import json
from pathlib import Path

import pytest

from tests.acceptance.quick import Quick
from tests.app.ctl.calls import Ctl

SHOP = """\
backends:
- name: NAME
  from: plain
  servers:
    one: {name: one, address: 127.0.0.1, port: 3, weight: 5}
"""


def declared(name: str) -> str:
    """A backend; what one owner has declared is no other's."""
    return SHOP.replace("NAME", name)


@pytest.fixture
def file(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """Of a backend with the name of the test."""
    made = tmp_path / "more.yaml"
    made.write_text(declared(request.function.__name__))
    return made


def test_a_plan_changes_nothing_and_its_token_carries_it_out(ctl: Ctl, sidecar: Quick, file: Path, tmp_path: Path) -> None:
    before, token = sidecar.text(), tmp_path / "token"
    shown = ctl.output("plan", "-f", str(file), "--owner", "planner", "--save", str(token))
    assert shown.startswith("+ backend/test_a_plan")
    assert f"1 created, 0 changed, 0 deleted, 0 unchanged\nplan token: {token.read_text()}" in shown
    assert ctl("plan", "-f", str(file), "--owner", "planner", "--exit-code").returncode == 10
    assert sidecar.text() == before
    assert "1 created" in ctl.output("apply", "--plan", f"@{token}", "--wait")
    assert "server one 127.0.0.1:3 weight 5" in sidecar.text()
    assert "404" in ctl.refusal(1, "apply", "--plan", f"@{token}")
    assert ctl("plan", "-f", str(file), "--owner", "planner", "--exit-code").returncode == 0


def test_made_so_once(ctl: Ctl, sidecar: Quick, file: Path) -> None:
    assert "1 created" in ctl.output("apply", "-f", str(file), "--owner", "once", "--wait")
    version = sidecar.version()
    assert "0 created, 0 changed, 0 deleted, 2 unchanged" in ctl.output("apply", "-f", "-", "--owner", "once", text=file.read_text())
    assert sidecar.version() == version
    done = ctl.output("apply", "-f", "-", "--owner", "once", text=file.read_text().replace("weight: 5", "weight: 4"))
    summary = f"once, version {version + 1}: 0 created, 1 changed, 0 deleted, 1 unchanged\n"
    command = "live: set server test_made_so_once/one weight 4\n"
    entry = f"entry {sidecar.get('/v3/sidecar/history').json()[0]['id']}, live: weight 5 → 4 on backend/test_made_so_once/server/one\n"
    assert done == f"~ backend/test_made_so_once/server/one  weight: 5 -> 4\n{command}{summary}{entry}"
    assert "- backend/test_made_so_once\n" in ctl.output("apply", "-f", "-", "--owner", "once", "--wait", text="{}")


def test_dry(ctl: Ctl, sidecar: Quick, file: Path) -> None:
    before = sidecar.text()
    differing = ctl("apply", "-f", str(file), "--owner", "dry", "--diff")
    assert (differing.returncode, "+ backend/test_dry\n" in differing.stdout) == (10, True)
    assert "+ backend/test_dry\n" in ctl.output("apply", "-f", str(file), "--owner", "dry", "--dry-run")
    assert sidecar.text() == before


def test_conflicts_end_with_3_and_are_listed(ctl: Ctl, sidecar: Quick, tmp_path: Path) -> None:
    taken = "backends: [{name: shop, from: plain, balance: {algorithm: leastconn}}]"
    said = ctl.refusal(3, "apply", "-f", "-", "--owner", "taker", text=taken)
    assert "! backend/shop  balance: roundrobin of outside, leastconn here" in said
    assert "! backend/shop  balance" in ctl("plan", "-f", "-", "--owner", "taker", text=taken).stdout
    assert "taken from outside: backend/shop balance" in ctl.output("apply", "-f", "-", "--owner", "taker", "--force", text=taken)


def test_a_plan_that_cannot_be_carried_out_leaves_no_token(ctl: Ctl, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("former\n")
    taken = "backends: [{name: shop, from: plain, balance: {algorithm: leastconn}}]"
    assert ctl("plan", "-f", "-", "--owner", "taker", "--save", str(token), text=taken).returncode == 3
    assert "contains no token" in ctl.refusal(2, "apply", "--plan", f"@{token}")
    assert "No such file" in ctl.refusal(2, "plan", "-f", "-", "--owner", "a", "--save", "/nowhere/token", text="{}")


def test_what_is_too_much_to_delete_has_no_plan(ctl: Ctl, file: Path) -> None:
    ctl.output("apply", "-f", str(file), "--owner", "deleter", "--wait")
    for command in ("plan", "apply"):
        assert "1 objects would be deleted" in ctl.refusal(3, command, "-f", "-", "--owner", "deleter", "--max-delete", "0", text="{}")


def test_notices_of_haproxy_are_no_news(ctl: Ctl, file: Path) -> None:
    assert "haproxy version is" not in ctl.output("plan", "-f", str(file), "--owner", "quiet")


def test_several_files_are_one_declaration(ctl: Ctl, tmp_path: Path) -> None:
    directory = tmp_path / "declared"
    (directory / "below").mkdir(parents=True)
    (directory / "a.yaml").write_text(declared("several"))
    (directory / "below/b.json").write_text(json.dumps({"backends": [{"name": "other", "from": "plain"}]}))
    (directory / ".hidden.yaml").write_text("no: [yaml")
    planned = json.loads(ctl.output("plan", "-f", str(directory), "--owner", "several", "-o", "json"))
    assert planned["created"] == ["backend/several", "backend/other"]


def test_a_change_that_goes_back_unless_it_is_confirmed(ctl: Ctl, sidecar: Quick, file: Path) -> None:
    done = ctl("apply", "-f", str(file), "--owner", "careful", "--confirm", "10m", "-m", "try it")
    assert done.returncode == 0 and "unless confirmed; to confirm: dataplaneapi ctl confirm " in done.stderr
    waiting = sidecar.get("/v3/sidecar/confirmations").json()[0]
    assert waiting["status"] == "pending"
    assert sidecar.delete(f"/v3/sidecar/confirmations/{waiting['id']}").status_code == 200
    assert sidecar.get("/v3/sidecar/history", limit=5).json()[1]["message"] == "try it"


def test_what_cannot_be_declared_changes_nothing(ctl: Ctl, sidecar: Quick, file: Path) -> None:
    version = sidecar.version()
    assert "required" in ctl.refusal(2, "apply", "-f", str(file))
    assert "No such file" in ctl.refusal(2, "apply", "--owner", "a", "-f", "/nowhere")
    assert "422" in ctl.refusal(1, "apply", "--owner", "a", "-f", "-", text="backends: [{name: x, wieght: 3}]")
    assert "--plan excludes -f" in ctl.refusal(2, "apply", "--plan", "x", "--owner", "a")
    assert sidecar.version() == version
