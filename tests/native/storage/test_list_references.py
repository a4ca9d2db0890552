"""Lists that name a certificate."""

from pathlib import Path

import pytest

from haproxy_native.storage.crt_list import LARGEST_LIST, lines_naming
from haproxy_native.text.document import Document
from tests.tls.pems import made


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    (tmp_path / "a.pem").write_text(made("a.example.com").pem)
    (tmp_path / "list.txt").write_text(f"# {tmp_path}/a.pem\n{tmp_path}/b.pem\n{tmp_path}/a.pem a\na.pem b\n")
    return tmp_path


def document(*names: str) -> Document:
    lines = "".join(f"  bind :1 ssl crt-list {name}\n" for name in names)
    return Document.parse(f"frontend f\n{lines}".encode())


@pytest.mark.parametrize("name", ["{}/list.txt", "list.txt"])
def test_lines_of_a_list_in_use(stored: Path, name: str) -> None:
    found = lines_naming(document(name.format(stored)), stored / "a.pem", str(stored))
    assert [(each.section, each.line, each.text) for each in found] == [
        (f"{stored}/list.txt", 3, f"{stored}/a.pem a"),
        (f"{stored}/list.txt", 4, "a.pem b"),
    ]


def test_a_list_that_nobody_uses(stored: Path) -> None:
    assert lines_naming(document("/other.txt"), stored / "a.pem", str(stored)) == []


def test_what_is_not_named(stored: Path) -> None:
    (stored / "aa.pem").touch()
    (stored / "sub").mkdir()
    assert lines_naming(document(f"{stored}/list.txt"), stored / "aa.pem", str(stored)) == []


def test_what_is_too_long_for_a_list_is_not_read(stored: Path) -> None:
    with (stored / "list.txt").open("a") as file:
        file.write("#" * LARGEST_LIST)
    assert lines_naming(document(f"{stored}/list.txt"), stored / "a.pem", str(stored)) == []
