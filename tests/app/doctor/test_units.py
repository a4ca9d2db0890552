"""Unit files, read as systemd reads them."""

from pathlib import Path

import pytest

from dataplaneapi.doctor.units import Unit, is_active_or_starting, is_enabled, other_servers, read_unit


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    etc, lib = tmp_path / "etc", tmp_path / "lib"
    for place in (etc, lib):
        place.mkdir()
    return etc, lib


def test_the_first_place_and_all_drop_ins_count(places: tuple[Path, Path]) -> None:
    etc, lib = places
    (lib / "a.service").write_text("[Unit]\nExecStart=no\n[Service]\nExecStart=/usr/bin/lib \\\n  --x\nPrivateTmp=yes\n# PrivateTmp=no\n")
    found = read_unit("a.service", places)
    assert found
    assert (found.command, found.has_own_tmp, found.name) == (["/usr/bin/lib", "--x"], True, "a.service")
    for place, name, text in (
        (lib, "20.conf", "[Service]\nPrivateTmp=no\n"),
        (etc, "20.conf", ""),
        (lib, "10.conf", "[Service]\nPrivateTmp=0\n"),
    ):
        (place / "a.service.d").mkdir(exist_ok=True)
        (place / "a.service.d" / name).write_text(text)
    found = read_unit("a.service", places)
    assert found
    assert not found.has_own_tmp
    (etc / "a.service").write_text("[Service]\nExecStart=-/usr/bin/etc\n")
    assert read_unit("a.service", places).command == ["/usr/bin/etc"]  # type: ignore[union-attr]
    assert read_unit("none.service", places) is None


def test_servers_of_this_api_beside_ours(places: tuple[Path, Path]) -> None:
    etc, lib = places
    for name, command in (
        ("dataplaneapi", "dataplaneapi"),
        ("other", "/opt/dataplaneapi -f x"),
        ("hapee", "/opt/hapee-dataplaneapi"),
        ("web", "nginx"),
    ):
        (lib / f"{name}.service").write_text(f"[Service]\nExecStart={command}\n")
    assert [each.name for each in other_servers(places)] == ["hapee.service", "other.service"]
    assert not is_enabled("other.service", places)
    (etc / "multi-user.target.wants").mkdir()
    (etc / "multi-user.target.wants" / "other.service").symlink_to("gone")
    assert is_enabled("other.service", places)
    assert is_enabled("oth*.service", places)
    assert not is_active_or_starting("surely-none.service")


def test_a_command_that_cannot_be_split() -> None:
    assert Unit(Path("x.service"), {"ExecStart": ["'"]}).command == []
    assert Unit(Path("x.service")).command == []
