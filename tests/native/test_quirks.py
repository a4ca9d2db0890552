"""The table of what versions lack is HAProxy's truth, and the page's."""

import re
from pathlib import Path

import pytest

from haproxy_native.quirks import LACKS, OLDEST, lacking
from tests.haproxy import binaries
from tests.haproxy.process import SMALL, HAProxy
from tests.rules.sources import CHECKOUT

PAGE = CHECKOUT / "docs" / "haproxy-versions.md"
ROW = re.compile(r"^\| (\d)\.(\d+) \| (.+?) \| (.+?) \|$", re.MULTILINE)


def test_the_page_says_what_the_table_says() -> None:
    rows = [((int(major), int(minor)), what, instead) for major, minor, what, instead in ROW.findall(PAGE.read_text())]
    assert rows == [(lack.since, lack.what, lack.instead) for lack in LACKS]


def test_older_ones_lack_more() -> None:
    assert lacking(OLDEST) == list(LACKS)
    assert lacking((9, 9)) == []
    assert [lack.since for lack in LACKS] == sorted(lack.since for lack in LACKS)


@pytest.mark.parametrize("binary", binaries.installed(), ids=lambda binary: ".".join(map(str, binaries.version(binary))))
def test_haproxy_agrees(tmp_path: Path, binary: str) -> None:
    with HAProxy(tmp_path, SMALL, binary=binary) as haproxy:
        said = haproxy.ask("help")
        for lack in LACKS:
            if lack.command:
                there = re.search(rf"^\s*{re.escape(lack.command)}\b", said, re.MULTILINE) is not None
                assert there is (haproxy.version >= lack.since), lack
        assert haproxy.ask_master("reload").startswith("Success=") is (haproxy.version >= (2, 7))
