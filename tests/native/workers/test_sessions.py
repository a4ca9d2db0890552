"""Sessions of an answer; their end is in tests/acceptance/test_worker_ending.py."""

from haproxy_native.workers.ending import ProxySession, parse_sessions

ANSWER = """\
0x55558c5fabb0: proto=tcpv4 src=127.0.0.1:46668 fe=f be=v1 srv=s1 ts=00 epoch=0 age=1s calls=2 rate=0
0x55558c71b910: proto=tcpv4 src=127.0.0.1:41970 fe=t be=<NONE> srv=<none> ts=00 epoch=0 age=1s calls=2
0x55558c71c540: proto=sockpair src=unix:2 fe=GLOBAL be=<NONE> srv=<none> ts=00 epoch=0 age=0s calls=2
"""


def test_those_of_clients() -> None:
    first, second = parse_sessions(ANSWER)
    assert first == ProxySession("0x55558c5fabb0", "f", "v1", "s1") and second.server == "<none>"
    assert parse_sessions("") == []
