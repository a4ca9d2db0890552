"""`show info` under the API's names."""

from haproxy_native.runtime.responses import process_info

KNOWN = frozenset(["release_date", "version", "node", "uptime", "max_conn", "ulimit_n", "pool_alloc_mb", "curr_ssl_conns", "unstoppable"])


def test_names_and_types() -> None:
    facts = {
        "Version": "3.2.1",
        "Release_date": "2026/10/14",
        "Uptime": "0d 0h00m01s",
        "Uptime_sec": "1",
        "Maxconn": "100",
        "Ulimit-n": "20000",
        "PoolAlloc_MB": "0",
        "CurrSslConns": "3",
        "Unstoppable Jobs": "1",
        "Unheard_of": "1",
        "node": "",
    }
    assert process_info(facts, KNOWN) == {
        "version": "3.2.1",
        "release_date": "2026-10-14",
        "uptime": 1,
        "max_conn": 100,
        "ulimit_n": 20000,
        "pool_alloc_mb": 0,
        "curr_ssl_conns": 3,
        "unstoppable": 1,
    }


def test_what_is_unknown_is_absent_but_for_the_date() -> None:
    assert process_info({"Maxconn": "many"}, KNOWN) == {"release_date": "0001-01-01"}
