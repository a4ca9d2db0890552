"""What HAProxy quotes when it refuses something, for callers who may not read all of it."""

from typing import Any

import pytest

from dataplaneapi.api.access import HIDDEN, without_unreadable
from haproxy_native.access.rights import AccessRule, Rights
from haproxy_native.check.messages import Message
from haproxy_native.errors import InUse, Missing, Refused, ReloadFailed

FILE = "/etc/haproxy/haproxy.cfg"
OWN = Message("alert", "'server web' : unknown keyword 'x'.", FILE, 9, "backend shop from plain", "server web x")
OTHER = Message("alert", "Proxy 'site': unable to find required default_backend: 'shop'.", FILE, 4, "frontend site", "default_backend shop")
BARE = Message("alert", "Proxy 'site': something.")
SHOP = Rights(("shop",), (AccessRule("backend/shop", frozenset(("read", "change"))),))


@pytest.mark.parametrize("alerts", [(OTHER,), (BARE,), (OTHER, BARE)])
def test_of_other_sections_nothing_is_shown(alerts: tuple[Any, ...]) -> None:
    error = without_unreadable(Refused('line 4 of haproxy.cfg; did you mean "site2"?', alerts=alerts), SHOP.may_read)
    assert isinstance(error, Refused) and error.detail == HIDDEN and error.alerts == ()


def test_of_own_sections_all_is() -> None:
    error = without_unreadable(Refused('line 9; did you mean "site"?', alerts=(OTHER, OWN)), SHOP.may_read)
    assert isinstance(error, Refused) and error.alerts == (OWN,)
    assert error.detail == "line 9, in 'backend shop from plain': 'server web' : unknown keyword 'x'."


def test_other_refusals() -> None:
    failed = without_unreadable(ReloadFailed("Reload failed: secret", reload_id="2026-11-28-1"), SHOP.may_read)
    assert isinstance(failed, ReloadFailed) and ("secret" in str(failed), failed.reload_id) == (False, "2026-11-28-1")
    used = InUse("rejecting attempt to delete file a.map referenced in haproxy conf at line 7: http-request secret")
    assert str(without_unreadable(used, SHOP.may_read)) == "rejecting attempt to delete file a.map referenced in haproxy conf"
    for error in (Missing("backend shop does not exist"), Refused("no alerts")):
        assert without_unreadable(error, SHOP.may_read) is error
