"""Who has defined a source, also after a restart."""

import logging
from pathlib import Path

import pytest

from haproxy_native.access.initiator import Initiator
from haproxy_native.discovery.creators import Creators

ANN = Initiator("ann", group="users")


def test_kept_and_forgotten(tmp_path: Path) -> None:
    file = tmp_path / "engine" / "creators.json"
    Creators(file).keep("1", ANN)
    Creators(file).keep("2", Initiator())
    assert Creators(file).of("1") == ANN and Creators(file).of("2") == Creators(file).of("3") == Initiator()
    Creators(file).keep("1", None)
    assert Creators(file).of("1") == Initiator()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"1": 2}'])
def test_a_file_of_something_else(tmp_path: Path, text: str) -> None:
    (tmp_path / "file").write_text(text)
    assert Creators(tmp_path / "file").of("1") == Initiator()


def test_a_disk_that_takes_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "engine").write_text("")
    creators = Creators(tmp_path / "engine" / "file")
    with caplog.at_level(logging.WARNING):
        creators.keep("1", ANN)
    assert creators.of("1") == ANN and "cannot write" in caplog.text
