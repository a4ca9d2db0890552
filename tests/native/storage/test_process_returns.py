"""Who takes a change of the process back; how, is in test_live_maps.py and test_live_acls.py."""

import pytest

from haproxy_native.commit.change import Member
from haproxy_native.engine import Engine
from haproxy_native.errors import Conflict
from haproxy_native.storage.live_maps import LiveMap
from haproxy_native.storage.process_returns import returns
from tests.native.storage.live import Beside


def test_a_directory_that_is_gone(maps: Beside) -> None:
    async def work(engine: Engine, live: LiveMap) -> None:
        with pytest.raises(Conflict, match=r"no directory of maps any more that could hold hosts\.map"):
            await returns(engine.context, {})["map/"]([Member("map/hosts.map/entry/a", "value", None, "b")])

    maps.with_engine(work)
