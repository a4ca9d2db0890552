"""The text of a reload at work is known to the next process."""

import time
from pathlib import Path

import pytest

from haproxy_native.commit.loads import Load, LoadedText, Loads
from haproxy_native.runtime.client import Worker
from haproxy_native.text.document import Document

FIRST, SECOND, LIVE = (Document.parse(f"global\n# {name}\n".encode()) for name in ("first", "second", "live"))


@pytest.fixture
def loads(tmp_path: Path) -> Loads:
    return Loads(tmp_path / "loads", tmp_path / "haproxy.cfg")


def read(loads: Loads, started: float) -> tuple[str, str] | None:
    texts = loads.read_by(Worker(1, started))
    return texts and (texts[0].text, texts[1].text)


def test_a_worker_has_read_the_last_text_before_it_started(loads: Loads) -> None:
    first = loads.begin(FIRST)
    time.sleep(0.01)
    second = loads.begin(SECOND)
    assert read(loads, first - 0.001) is None
    assert read(loads, first + 0.001) == (FIRST.text, FIRST.text)
    assert read(loads, second + 0.001) == (SECOND.text, SECOND.text)
    loads.end()
    assert read(loads, second + 0.001) is None


def test_what_was_live_in_the_former_worker_is_kept_beside_it(loads: Loads, tmp_path: Path) -> None:
    load = Load(LoadedText(FIRST, "", 1), 0, loads.begin(FIRST), LIVE)
    loads.want(load)
    assert read(Loads(tmp_path / "loads", tmp_path), load.began + 1) == (FIRST.text, LIVE.text)
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "loads").iterdir()} == {0o600}


def test_a_directory_that_cannot_be_written(loads: Loads, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "loads").touch()
    assert read(loads, loads.begin(FIRST) + 1) is None
    assert "it may be unknown what HAProxy has loaded" in caplog.text
    loads.end()
