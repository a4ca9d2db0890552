"""Rows of `show servers state`, measured and made up."""

from dataclasses import replace

import pytest

from haproxy_native.runtime.server_state import ServerState, server_states
from tests.haproxy.process import HAProxy

HEADER = "1\n# be_id be_name srv_id srv_name\n"
ROW = "3 app 1 a 127.0.0.1 2 0 20 10 7 8 2 4 6 22 0 5 host.example 77 _srv 1 33 127.0.0.8 127.0.0.9 88"


def test_every_column() -> None:
    assert server_states(HEADER + ROW + "\n") == [
        ServerState(
            backend_id=3, backend_name="app", id=1, name="a", address="127.0.0.1", operational=2, admin=0, uweight=20, iweight=10,
            last_time_change=7, check_status=8, check_result=2, check_health=4, check_state=6, agent_state=22, backend_forced_id=0,
            forced_id=5, fqdn="host.example", port=77, srvrecord="_srv", use_ssl=True, check_port=33, check_addr="127.0.0.8",
            agent_addr="127.0.0.9", agent_port=88,
        )
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "2\n" + ROW, "Can't find backend.", HEADER + "3 app 1 a", HEADER + ROW.replace(" 77 ", " x ")])
def test_what_is_no_row(text: str) -> None:
    assert server_states(text) == []


@pytest.mark.parametrize(
    ("admin", "state", "forced"),
    [
        (0, "ready", "ready"),
        (1, "maint", "maint"),
        (2, "maint", "ready"),
        (5, "maint", "maint"),
        (4, "ready", "ready"),
        (8, "drain", "drain"),
        (9, "maint", "maint"),
        (16, "drain", "ready"),
        (32, "maint", "ready"),
        (64, "ready", "ready"),
    ],
)
def test_admin_states(admin: int, state: str, forced: str) -> None:
    row = replace(server_states(HEADER + ROW)[0], admin=admin)
    assert (row.admin_state, row.forced_state) == (state, forced)


def test_operational_states() -> None:
    row = server_states(HEADER + ROW)[0]
    assert [replace(row, operational=number).operational_state for number in range(5)] == ["down", "up", "up", "stopping", None]


def test_a_real_answer(haproxy: HAProxy) -> None:
    rows = {row.name: row for row in server_states(haproxy.ask("show servers state app"))}
    assert list(rows) == ["plain", "checked", "agent", "off", "tracking"]
    assert (rows["plain"].address, rows["plain"].port, rows["plain"].uweight) == ("127.0.0.1", 1, 10)
    assert rows["checked"].check_enabled and not rows["plain"].check_enabled
    assert rows["agent"].agent_enabled and not rows["checked"].agent_enabled and rows["agent"].agent_port == 9
    assert rows["off"].admin_state == "maint" and rows["plain"].admin_state == "ready"


@pytest.mark.parametrize(
    ("check_state", "operational", "admin", "settled"),
    [(2, 2, 0, True), (3, 2, 0, False), (2, 0, 0, False), (2, 0, 1, True), (3, 0, 1, False), (0, 2, 0, True)],
)
def test_a_check_that_can_change_nothing_any_more(check_state: int, operational: int, admin: int, settled: bool) -> None:
    row = replace(server_states(HEADER + ROW)[0], check_state=check_state, operational=operational, admin=admin)
    assert row.check_settled == settled
