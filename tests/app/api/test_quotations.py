"""What HAProxy quotes when it refuses something, for callers who may not read all of it."""

from typing import Any

import pytest

from dataplaneapi.api.quotations import HIDDEN, without_files, without_others
from haproxy_native.access.rights import Rights, Rule
from haproxy_native.check.messages import Message
from haproxy_native.errors import InUse, Missing, NativeError, Refused, ReloadFailed

FILE = "/etc/haproxy/haproxy.cfg"
OWN = Message("alert", "'server web' : unknown keyword 'x'.", FILE, 9, "backend shop from plain", "server web x")
OTHER = Message("alert", "Proxy 'site': unable to find required default_backend: 'shop'.", FILE, 4, "frontend site", "default_backend shop")
BARE = Message("alert", "Proxy 'site': something.")
SHOP = Rights(("shop",), (Rule("backend/shop", frozenset(("read", "change"))),))


@pytest.mark.parametrize("alerts", [(OTHER,), (BARE,), (OTHER, BARE)])
def test_of_other_sections_nothing_is_shown(alerts: tuple[Any, ...]) -> None:
    error = without_others(Refused('line 4 of haproxy.cfg; did you mean "site2"?', alerts=alerts), SHOP.may_read)
    assert isinstance(error, Refused) and error.detail == HIDDEN and error.alerts == ()


def test_of_own_sections_all_is() -> None:
    error = without_others(Refused('line 9; did you mean "site"?', alerts=(OTHER, OWN)), SHOP.may_read)
    assert isinstance(error, Refused) and error.alerts == (OWN,)
    assert error.detail == "line 9, in 'backend shop from plain': 'server web' : unknown keyword 'x'."


def test_other_refusals() -> None:
    assert "secret" not in str(without_others(ReloadFailed("Reload failed: secret"), SHOP.may_read))
    used = InUse("rejecting attempt to delete file a.map referenced in haproxy conf at line 7: http-request secret")
    assert str(without_others(used, SHOP.may_read)) == "rejecting attempt to delete file a.map referenced in haproxy conf"
    for error in (Missing("backend shop does not exist"), Refused("no alerts")):
        assert without_others(error, SHOP.may_read) is error


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            f"config : parsing [{FILE}:6] : error in 'deny' : 'admin:$5$x' y' is not a valid address at line 1 of file '/etc/users'.",
            f"config : parsing [{FILE}:6] : error in '...' is not a valid address at line 1 of file '/etc/users'.",
        ),
        (
            "parsing [/etc/users:1] : unknown keyword 'admin:$5$x' out of section.",
            "parsing [/etc/users:1] : unknown keyword '...' out of section.",
        ),
        (f"parsing [{FILE}:6] : unknown keyword 'x'.", f"parsing [{FILE}:6] : unknown keyword 'x'."),
        ("Proxy 'site': something.", "Proxy 'site': something."),
    ],
)
def test_other_files_are_not_quoted(text: str, shown: str) -> None:
    given = Message("alert", text, FILE, 6)
    error = without_files(Refused(f"{text}\nexit status 1", alerts=(given,)), {FILE})
    assert isinstance(error, Refused) and error.detail == f"{shown}\nexit status 1"
    assert error.alerts == (Message("alert", shown, FILE, 6),)
    assert str(without_files(ReloadFailed(text), {FILE})) == shown
    other: NativeError = Missing("x")
    assert without_files(other, {FILE}) is other


def test_a_list_of_certificates_is_not_quoted() -> None:
    """HAProxy gives the line that names the list as the place."""
    text = "'bind :83' in section 'frontend' : 'crt-list' : unable to stat SSL certificate from file '{}' : No such file."
    given, shown = text.format("root:$6$'x'y"), text.format("...")
    source = "bind :83 ssl crt-list /etc/shadow"
    alert = Message("alert", f"parsing [{FILE}:7] : {given}", FILE, 7, "frontend web", source)
    lines = "line 7 of haproxy.cfg, in 'frontend web': {0}\nmsg=\"parsing [" + FILE + ":7] {0}\"\nline 7 in 'frontend web': " + source
    error = without_files(Refused(lines.format(given), alerts=(alert,)), {FILE})
    assert isinstance(error, Refused) and error.detail == lines.format(shown)
    assert error.alerts == (Message("alert", f"parsing [{FILE}:7] : {shown}", FILE, 7, "frontend web", source),)
