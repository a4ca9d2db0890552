"""The place of the file of shapes: the end of the last directory that HAProxy loads."""

from pathlib import Path

import pytest

from haproxy_native.disk import shape_place
from haproxy_native.text.parts import SHAPES


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    (tmp_path / "haproxy.cfg").write_text("global\n")
    (tmp_path / "haproxy.cfg").chmod(0o640)
    (tmp_path / "conf.d").mkdir()
    (tmp_path / "conf.d" / "10-web.cfg").write_text("# nothing yet\n")
    return tmp_path / "conf.d"


def test_it_is_made_once(conf: Path) -> None:
    main = conf.parent / "haproxy.cfg"
    assert shape_place.made([str(main), str(conf)], main, 3) == 3
    file = conf / SHAPES
    assert all(line.startswith("#") for line in file.read_text().split("\n") if line)
    assert file.stat().st_mode & 0o777 == 0o640
    file.write_text("defaults a\n")
    assert shape_place.made([str(conf)], main, 3) == 3
    assert file.read_text() == "defaults a\n"


@pytest.mark.parametrize(
    ("after", "why"),
    [
        ((), "is in no directory that config_files_after names last"),
        (("conf.d/10-web.cfg",), "is in no directory"),
        (("conf.d", "conf.d/10-web.cfg"), "is in no directory"),
        (("later",), "zzz.cfg in "),
    ],
)
def test_there_is_no_place(conf: Path, after: tuple[str, ...], why: str, caplog: pytest.LogCaptureFixture) -> None:
    (conf.parent / "later").mkdir()
    (conf.parent / "later" / "zzz.cfg").write_text("")
    paths = [str(conf.parent / each) for each in after]
    assert why in shape_place.missing(paths)
    assert not shape_place.made(paths, conf.parent / "haproxy.cfg", 3)
    assert not shape_place.missing(paths, 0)
    assert "shapes are off" in caplog.text
    assert not list(conf.parent.glob(f"**/{SHAPES}"))


def test_a_directory_in_which_no_file_can_be_made(conf: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert not shape_place.made(["/proc"], conf.parent / "haproxy.cfg", 3)
    assert "shapes are off: /proc/" in caplog.text
