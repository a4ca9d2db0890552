"""`ctl lint`."""

import json

from tests.app.ctl.calls import Ctl


def test_what_is_found(ctl: Ctl) -> None:
    shown = ctl.output("lint")
    assert "[server-without-check]" in shown and "backend shop sends requests to web1, web2" in shown
    rows = json.loads(ctl.output("lint", "-o", "json"))
    assert {"server-without-check"} <= {each["id"] for each in rows}
    assert json.loads(ctl.output("lint", "--sarif"))["version"] == "2.1.0"
    assert ctl.refusal(10, "lint", "--fail-on", "warning") == ""
    ctl.refusal(1, "lint", "--transaction", "none")
