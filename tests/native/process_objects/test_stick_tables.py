"""Entries of stick tables; with HAProxy in tests/app/handlers/sidecar/test_process_reverts.py."""

import pytest

from haproxy_native.commit.shown import Shown
from haproxy_native.errors import Conflict
from haproxy_native.process_objects.stick_tables import StickTableEntries
from tests.native.engines import run


def test_rates_pass() -> None:
    kind = StickTableEntries(None)  # type: ignore[arg-type]
    assert [name for name in ("gpc0", "http_req_rate", "bytes_in_rate", "http_req_cnt") if kind.stays(name)] == ["gpc0", "http_req_cnt"]
    with pytest.raises(Conflict, match="gone with it"):
        run(kind.make("stick_table/t/entry/k", Shown(None), Shown({"gpc0": 1})))
