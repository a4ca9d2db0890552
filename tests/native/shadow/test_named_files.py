"""Which files a text may name, and which of them name others."""

import os
from pathlib import Path

from haproxy_native.shadow.files import LARGEST, files_naming, paths_in, stamps
from haproxy_native.text.document import Document


def document(line: str) -> Document:
    return Document.parse(f"frontend f\n {line}".encode())


def test_what_may_be_a_path(tmp_path: Path) -> None:
    text = document('use_backend %[path,map(a.map,x)]\n bind :80 ssl crt "/etc/b c.pem" crt d/e\n acl f src -f opt@g.lst\n')
    found = {str(path) for path in paths_in(text, tmp_path)}
    assert found >= {f"{tmp_path}/a.map", f"{tmp_path}/d/e"} and f"{tmp_path}/x" not in found


def test_a_long_word_is_looked_at_in_linear_time(tmp_path: Path) -> None:
    """Otherwise this takes hours: the limit of a test's time ends it."""
    assert not list(paths_in(document("x" * 5_000_000), tmp_path))


def test_what_names_another(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("/x/one.pem [alpn h2]\n")
    (tmp_path / "large.txt").write_text("/x/one.pem " + " " * LARGEST)
    text = document("bind :443 ssl crt-list list.txt crt-list large.txt crt-list none.txt crt ./\n")
    assert files_naming(text, tmp_path, [Path("/x/one.pem")]) == [tmp_path / "list.txt"]
    assert files_naming(text, tmp_path, [Path("/x/onexpem")]) == [] == files_naming(text, tmp_path, [])


def test_what_changes_with_them(tmp_path: Path) -> None:
    path, content = tmp_path / "a.map", tmp_path / "content"
    path.write_text("a")
    content.write_text("a")
    text = document("use_backend %[path,map(a.map)]\n")

    def now() -> list[str]:
        return stamps(text, tmp_path, {Path("/m/b.map"): content, Path("/m/c.map"): None})

    first = now()
    assert now() == first != stamps(text, tmp_path, {})
    content.write_text("b")
    assert (second := now()) != first
    path.write_text("b")
    os.utime(path, (1, 1))
    assert now() != second
