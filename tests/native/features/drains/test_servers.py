"""Which servers targets mean, of the statistics of a process."""

import pytest

from haproxy_native.errors import BadRequest, NotFound
from haproxy_native.features.drains.drains import ServerStatistics, backend_and_server, resolve_targets, rows

STAT = """\
# pxname,svname,scur,status,weight,addr,
shop,web1,2,UP,1,10.0.0.7:80,
shop,web2,0,DRAIN,1,10.0.0.8:80,
shop,web3,,DOWN 1/2,1,[2001:db8::7]:80,
odd/name,a*b,0,no check,0,unix:/run/a,
"""
ROWS = rows(STAT)
WEB1, WEB2, WEB3, ODD = (
    "backend/shop/server/web1",
    "backend/shop/server/web2",
    "backend/shop/server/web3",
    "backend/odd%2Fname/server/a%2Ab",
)


def test_rows() -> None:
    assert ROWS[0] == ServerStatistics("shop", "web1", "10.0.0.7", "UP", 1, 2)
    assert [row.address for row in ROWS[:3]] == ["10.0.0.7", "10.0.0.8", "2001:db8::7"]
    assert [row.object for row in ROWS] == [WEB1, WEB2, WEB3, ODD]
    assert [row.is_ready for row in ROWS] == [True, False, False, False], "no weight, no requests"
    assert backend_and_server(ODD) == ("odd/name", "a*b")


@pytest.mark.parametrize(
    ("targets", "meant"),
    [
        ([WEB1], [WEB1]),
        (["shop/web2", WEB1, "shop/web1"], [WEB2, WEB1]),
        (["shop/*"], [WEB1, WEB2, WEB3]),
        (["backend/*/server/web1"], [WEB1]),
        (["*@10.0.0.7"], [WEB1]),
        (["*@2001:db8::7"], [WEB3]),
        (["*@[2001:db8::7]"], [WEB3]),
        ([ODD], [ODD]),
    ],
)
def test_targets(targets: list[str], meant: list[str]) -> None:
    assert resolve_targets(targets, ROWS) == meant


def test_no_targets() -> None:
    for missing in ("shop/web9", "*@10.0.0.9", "backend/shops/server/web1"):
        with pytest.raises(NotFound):
            resolve_targets([WEB1, missing], ROWS)
    for wrong in ("shop", "frontend/web/server/a", "a/b/c"):
        with pytest.raises(BadRequest):
            resolve_targets([wrong], ROWS)
