"""What is remembered survives, and what is broken is as good as nothing."""

from pathlib import Path

import pytest

from haproxy_native.commit.state_file import State, StateFile, fingerprint, stamped_fingerprint
from haproxy_native.editing import header
from haproxy_native.text.document import Document


def test_it_survives(tmp_path: Path) -> None:
    state_file = StateFile(tmp_path / "deep" / "engine.json")
    assert state_file.value == State()
    state_file.set(version=7, running="x", pid=42)
    state_file.set(pending="y")
    assert StateFile(tmp_path / "deep" / "engine.json").value == State(version=7, running="x", pid=42, pending="y")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"version": "x"}', '{"version": null}', "\xff"])
def test_broken_is_empty(tmp_path: Path, text: str) -> None:
    (tmp_path / "engine.json").write_text(text, encoding="latin-1")
    assert StateFile(tmp_path / "engine.json").value == State()


def test_what_is_unknown_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "engine.json").write_text('{"version": 3, "later": true}')
    assert StateFile(tmp_path / "engine.json").value == State(version=3)


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").touch()
    state_file = StateFile(tmp_path / "file" / "engine.json")
    state_file.set(version=7)
    assert state_file.value.version == 7
    assert "cannot write" in caplog.text


def test_fingerprints() -> None:
    stamped = header.with_header(Document.parse("global\n"), 7, banner=True)
    assert fingerprint(stamped.data) == stamped_fingerprint(stamped)
    texts = [b"", b"global\n", b"# _version=1\nglobal\n", b"# _version=2\nglobal\n", stamped.data, stamped.data + b"\n"]
    assert len({fingerprint(text) for text in texts}) == len(texts)
