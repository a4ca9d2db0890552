"""`ctl references` and `rename`."""

from tests.acceptance.quick import Quick
from tests.app.ctl.calls import Ctl


def test_what_names_a_backend_and_another_name(ctl: Ctl, sidecar: Quick) -> None:
    named = ctl.output("references", "backend/shop")
    assert f"{sidecar.haproxy.file}:" in named
    before = sidecar.text()
    assert "backend shop" in ctl.output("rename", "backend/shop", "store", "--dry-run") and sidecar.text() == before
    ctl.output("rename", "backend/shop", "store", "--wait")
    assert sidecar.line("backend store") and not sidecar.line("backend shop")
    assert "404" in ctl.refusal(1, "references", "backend/shop")
