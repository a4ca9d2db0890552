"""Stale, missing and left-over files are reported with the command that repairs them."""

from pathlib import Path

import pytest

from openapi import generate


@pytest.fixture
def wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[Path, str]:
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    wanted = {tmp_path / "made" / "a.py": "a = 1\n", tmp_path / "made" / "b.py": "b = 1\n"}
    generate.write(wanted)
    monkeypatch.setattr(generate, "files", lambda: wanted)
    return wanted


def test_fresh(wanted: dict[Path, str], capsys: pytest.CaptureFixture):
    assert generate.main(["--check"]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("spoil", ["edited", "missing", "left over"])
def test_stale(wanted: dict[Path, str], capsys: pytest.CaptureFixture, spoil: str):
    file = next(iter(wanted))
    if spoil == "edited":
        file.write_text("a = 2\n")
    elif spoil == "missing":
        file.unlink()
    else:
        (file.parent / "c.py").write_text("")
    assert generate.main(["--check"]) == 1
    out = capsys.readouterr().out
    assert ("made/c.py" if spoil == "left over" else "made/a.py") in out
    assert generate.COMMAND in out
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0


def test_a_package_file_of_ours_is_not_left_over(wanted: dict[Path, str]):
    ours = next(iter(wanted)).with_name("__init__.py")
    ours.write_text("")
    assert generate.main([]) == 0
    assert ours.exists()
