"""`ctl completion`: what may stand at the last word."""

import shutil
import subprocess

import pytest

from tests.acceptance.quick import Quick
from tests.app.ctl.calls import Ctl
from tests.haproxy.sidecar import COMMAND


@pytest.mark.parametrize(
    ("words", "candidates"),
    [
        (["he"], []),
        (["wh"], ["whoami"]),
        (["get", "backend/"], ["backend/shop"]),
        (["get", "backend/shop/server"], ["backend/shop/server", "backend/shop/server_switching_rule", "backend/shop/server_template"]),
        (["get", "backend/shop/server/"], ["backend/shop/server/web1", "backend/shop/server/web2"]),
        (["get", "backend", "s"], ["shop"]),
        (["get", "-r", "backend/shop/server/web1"], ["backend/shop/server/web1"]),
        (["apply", "--pl"], ["--plan"]),
        (["confirm", "--rej"], ["--reject"]),
        (["rename", "backend/sh"], ["backend/shop"]),
        (["get", "backend", "-o", "j"], ["json"]),
        (["drain", "shop/"], ["shop/web1", "shop/web2"]),
        (["set", "backend/shop", "server_ti"], ["server_timeout="]),
        (["set", "backend/shop", "bala"], ["balance."]),
        (["set", "backend/shop", "weight=3", "balance.al"], ["balance.algorithm="]),
        (["set", "backend/shop", "balance.algorithm=le"], ["balance.algorithm=leastconn"]),
        (["set", "backend/shop", "mode", "=", "h"], ["http"]),
        (["set", "backend/shop/server/web1", "backup", "="], ["disabled", "enabled"]),
        (["set", "frontend/site/bind/one", "ssl="], ["ssl=false", "ssl=true"]),
        (["create", "backe"], ["backend/"]),
        (["create", "backend/sh"], ["backend/shop/"]),
        (
            ["create", "backend/shop/server"],
            ["backend/shop/server/", "backend/shop/server_switching_rule", "backend/shop/server_template/"],
        ),
        (["create", "backend/shop/server/"], []),
        (["create", "global/"], ["global/log_target"]),
        (["create", "backend/new", "mode=t"], ["mode=tcp"]),
        (["create", "backend", "new", "server_ti"], ["server_timeout="]),
        (["stats", "s"], ["shop", "site"]),
        (["map", ""], ["add", "del", "list", "show"]),
        (["raw", "p"], ["put"]),
        (["cert", "delete", ""], []),
        (["nope", ""], []),
        (["call", "getWhoa"], ["getWhoami"]),
        (["call", "getBackend", "--na"], []),
        (["get", "backend/nope/server/"], []),
    ],
)
def test_candidates(ctl: Ctl, words: list[str], candidates: list[str]) -> None:
    assert sorted(ctl.output("completion", "--words", *words).split()) == candidates


def test_two_dashes_are_the_beginning_of_any_option(ctl: Ctl) -> None:
    assert {"--plan", "--owner", "--url"} < set(ctl.output("completion", "--words", "apply", "--").split())


def test_owners(ctl: Ctl, sidecar: Quick) -> None:
    done = ctl("apply", "-f", "-", "--owner", "team-c", text="backends: [{name: owned, from: plain}]")
    assert done.returncode == 0, done.stderr
    for words in (["export", "--owner", "team-c"], ["plan", "-f", "x.yaml", "--owner", "team-c"]):
        assert ctl.output("completion", "--words", *words) == "team-c\n"


def test_a_server_that_is_away_is_no_error(ctl: Ctl) -> None:
    assert ctl.output("completion", "--words", "get", "backend/", DATAPLANECTL_URL="http://127.0.0.1:9") == ""


def test_bash_completes_names_of_the_server(ctl: Ctl, sidecar: Quick) -> None:
    script = "source <(dataplaneapi ctl completion bash)\nCOMP_WORDS=(dataplaneapi ctl get backend/shop/server/) COMP_CWORD=3\n"
    script += '_dataplaneapi_ctl dataplaneapi\necho "${COMPREPLY[@]}"\n'
    environment = {**ctl.environment, "PATH": f"{COMMAND.parent}:{ctl.environment['PATH']}"}
    done = subprocess.run([shutil.which("bash") or "bash", "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("backend/shop/server/web1 backend/shop/server/web2\n", "")


def test_other_shells_have_a_script(ctl: Ctl) -> None:
    assert "compdef" in ctl.output("completion", "zsh") and "complete -c dataplaneapi" in ctl.output("completion", "fish")
    assert "a shell is required" in ctl.refusal(2, "completion")
