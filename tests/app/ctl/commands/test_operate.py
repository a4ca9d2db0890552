"""`ctl drain`, `split`, `revert` and `confirm`."""

from tests.acceptance.quick import Quick
from tests.app.ctl.calls import Ctl
from tests.until import until


def test_a_drain_is_waited_for(ctl: Ctl, sidecar: Quick) -> None:
    done = ctl("drain", "shop/web1", "--then", "maint", "--wait")
    assert done.returncode == 0 and "status   succeeded\n" in done.stdout
    state = sidecar.server("web1", "shop")
    assert state is not None and state.admin_state == "maint"
    begun = ctl.output("drain", "shop/web2", "--timeout", "10s", "-m", "new kernel")
    assert begun.startswith("id ") and "running" in begun
    until(lambda: "new kernel" in sidecar.get("/v3/sidecar/history", object="backend/shop/server/web2").text)
    assert "404" in ctl.refusal(1, "drain", "shop/nope")
    assert "409" in ctl.refusal(3, "drain", "shop/*", "--keep-ready", "2")
    for name in ("web1", "web2"):
        sidecar.put(f"/v3/services/haproxy/runtime/backends/shop/servers/{name}", {"admin_state": "ready"})


def test_a_split_is_made_changed_and_removed(ctl: Ctl, sidecar: Quick) -> None:
    assert "409" in ctl.refusal(3, "split", "canary", "shop=1")
    assert "shop=100" in ctl.output("split", "canary", "shop=1", "--frontend", "site", "--wait")
    assert ctl.output("split").splitlines()[1].split()[:2] == ["canary", "random"]
    assert "random" in ctl.output("split", "canary")
    assert "not BACKEND=WEIGHT" in ctl.refusal(2, "split", "canary", "shop=x")
    assert "source" in ctl.output("split", "canary", "--by", "source", "--frontend", "site", "shop=1", "--wait"), "options before shares"
    ctl.output("split", "canary", "--delete", "--wait")
    assert ctl.output("split") == ""


def test_a_change_that_a_later_one_has_overtaken_is_not_reverted(ctl: Ctl, sidecar: Quick) -> None:
    sidecar.put_server("web1", {"weight": 41}, "shop")
    sidecar.put_server("web1", {"weight": 42}, "shop")
    number = sidecar.get("/v3/sidecar/history").json()[0]["id"]
    sidecar.put_server("web1", {"weight": 43}, "shop")
    refused = ctl.refusal(3, "revert", number)
    assert "weight of backend/shop/server/web1 is 43 by now, not 42" in refused
    assert refused.endswith("\n! backend/shop/server/web1  weight: 43 of admin, 41 here\n")


def test_a_change_is_reverted(ctl: Ctl, sidecar: Quick) -> None:
    sidecar.put_server("web1", {"weight": 44}, "shop")
    number = sidecar.get("/v3/sidecar/history", limit=1).json()[0]["id"]
    assert "changes reverted: 1\n" in ctl.output("revert", number, "-m", "no")
    assert "weight 10" in sidecar.line("server web1")
    assert sidecar.get("/v3/sidecar/history", limit=1).json()[0]["message"] == "no"
    sidecar.put_server("web1", {"weight": 45}, "shop")
    ctl.output("revert", number, "--all-since", "--wait")
    assert "weight 44" in sidecar.line("server web1")


def test_the_change_that_waits_is_confirmed_extended_or_rejected(ctl: Ctl, sidecar: Quick) -> None:
    assert "no change is waiting" in ctl.refusal(2, "confirm")
    for words, status in (["--reject"], "rolled back"), ([], "confirmed"):
        sidecar.put_server("web1", {"weight": 46}, "shop", version=sidecar.version(), confirm="5m")
        assert "is pending" in ctl.output("confirm", "--extend", "10m")
        assert ctl.output("confirm", *words, "-m", "as planned").endswith(f" is {status}\n")
