"""Servers as the worker in service has them."""

from tests.app.handlers.conftest import RUNTIME, Beside

SERVERS = f"{RUNTIME}/backends/app/servers"


def test_list_and_get(beside: Beside) -> None:
    servers = {server["name"]: server for server in beside.client.get(SERVERS).json}
    assert list(servers) == ["plain", "checked", "off", "kept"]
    off = beside.client.get(f"{SERVERS}/off").json
    shown = {**off, "last_time_change": 0, "backend_id": 0, "check_state": 0}
    assert shown == {
        "address": "127.0.0.1",
        "admin_state": "maint",
        "agent_addr": "-",
        "agent_port": 0,
        "agent_state": 0,
        "backend_forced_id": 0,
        "backend_id": 0,
        "backend_name": "app",
        "check_addr": "-",
        "check_health": 0,
        "check_port": 0,
        "check_result": 0,
        "check_state": 0,
        "check_status": 1,
        "forced_id": 0,
        "fqdn": "-",
        "id": "3",
        "iweight": 1,
        "last_time_change": 0,
        "name": "off",
        "operational_state": "down",
        "port": 4,
        "srvrecord": "-",
        "use_ssl": False,
        "uweight": 1,
        "weight": 1,
    }
    assert (servers["plain"]["weight"], servers["plain"]["admin_state"], servers["plain"]["operational_state"]) == (10, "ready", "up")
    assert beside.client.get(f"{RUNTIME}/backends/empty/servers").json == []


def test_what_is_not_there(beside: Beside) -> None:
    for path, text in {
        f"{RUNTIME}/backends/ghost/servers": "no data for ghost: not found",
        f"{RUNTIME}/backends/ghost/servers/plain": "no data for ghost/plain: not found",
        f"{SERVERS}/ghost": "no data for app/ghost: not found",
        f"{RUNTIME}/backends/no%20blank%5C/servers": "no data for no blank\\: not found",
    }.items():
        got = beside.client.get(path)
        assert (got.status, got.message) == (404, text)
    assert beside.client.get(f"{RUNTIME}/backends/a%3Bb/servers").status == 400
