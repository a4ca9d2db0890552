"""Compare the table of missing functions with the versions of HAProxy, and with the page."""

import re
from pathlib import Path

import pytest

from haproxy_native.quirks import (
    ADDED_SERVERS_HAVE_COOKIES,
    ADDED_SERVERS_REFUSE_ENABLED,
    LACKS,
    OLDEST,
    RELAYED_CONNECTIONS,
    is_supported,
    lacks_of,
)
from tests.haproxy import binaries
from tests.haproxy.process import SMALL, HAProxy
from tests.rules.sources import CHECKOUT

PAGE = CHECKOUT / "docs" / "haproxy-versions.md"
ROW = re.compile(r"^\| (\d)\.(\d+) \| (.+?) \| (.+?) \|$", re.MULTILINE)


def test_the_page_says_what_the_table_says() -> None:
    expected = [(fact.since, fact.what, fact.instead) for fact in LACKS]
    rows = [((int(major), int(minor)), what, instead) for major, minor, what, instead in ROW.findall(PAGE.read_text())]
    assert rows[: len(expected)] == expected


def test_older_ones_lack_more() -> None:
    assert lacks_of(OLDEST) == list(LACKS)
    assert lacks_of((9, 9)) == []
    assert [fact.since for fact in LACKS] == sorted(fact.since for fact in LACKS)
    assert is_supported(OLDEST) and not is_supported((2, 4))


@pytest.mark.parametrize("binary", binaries.installed(), ids=lambda binary: ".".join(map(str, binaries.version(binary))))
def test_haproxy_agrees(tmp_path: Path, binary: str) -> None:
    with HAProxy(tmp_path, SMALL, binary=binary) as haproxy:
        said = haproxy.ask("help")
        for fact in LACKS:
            if fact.command:
                there = re.search(rf"^\s*{re.escape(fact.command)}\b", said, re.MULTILINE) is not None
                assert there is fact.holds(haproxy.version), fact
        added = haproxy.ask("add server app/another 127.0.0.1:1 enabled")
        assert ("New server registered." in added) is not ADDED_SERVERS_REFUSE_ENABLED.holds(haproxy.version), added
        added = haproxy.ask("add server app/with-cookie 127.0.0.1:1 cookie a")
        assert ("New server registered." in added) is ADDED_SERVERS_HAVE_COOKIES.holds(haproxy.version), added
        assert haproxy.ask("show info" + " x" * 64).startswith("Too many arguments.") is (haproxy.version >= (3, 2))
        relayed = haproxy.ask_master("@@1 show version")
        assert relayed.startswith(".".join(map(str, haproxy.version))) is RELAYED_CONNECTIONS.holds(haproxy.version), relayed
        assert haproxy.ask_master("reload").startswith("Success=") is (haproxy.version >= (2, 7))
