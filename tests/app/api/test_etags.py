"""Entity tags, and how they are compared."""

import hashlib
import os
from pathlib import Path

import pytest

from dataplaneapi.api.etags import FileTags, holds, is_well_formed, tag_of

ONE, OTHER = tag_of(b"one"), tag_of(b"other")


def test_a_tag_is_of_the_bytes() -> None:
    assert ONE == f'"{hashlib.blake2b(b"one", digest_size=16).hexdigest()}"' != OTHER


@pytest.mark.parametrize(
    ("header", "strongly", "weakly"),
    [
        (ONE, True, True),
        (f" {OTHER} , {ONE}", True, True),
        (f",{ONE},,", True, True),
        ("*", True, True),
        (" * ", True, True),
        (f"W/{ONE}", False, True),
        (f"W/{ONE}, {ONE}", True, True),
        (OTHER, False, False),
        (ONE[:-2] + '"', False, False),
        ('"a,b"', False, False),
    ],
)
def test_comparison(header: str, strongly: bool, weakly: bool) -> None:
    assert is_well_formed(header)
    assert (holds(header, ONE), holds(header, ONE, weakly=True)) == (strongly, weakly)


@pytest.mark.parametrize("header", ["", " ", ",", "abc", ONE[1:-1], ONE[:-1], f"{ONE} {OTHER}", f"*,{ONE}", f"w/{ONE}", '"a"b"', '"a b"'])
def test_what_is_no_list_of_tags(header: str) -> None:
    assert not is_well_formed(header)


def test_a_file_is_read_again_after_any_write(tmp_path: Path) -> None:
    file, tags = tmp_path / "file", FileTags()
    long_ago = 1_000_000_000
    for content in (b"abc", b"xyz", b""):
        file.write_bytes(content)
        os.utime(file, (long_ago, long_ago))
        for _ in range(2):
            with file.open("rb") as opened:
                assert tags.of(opened) == tag_of(content)
                assert opened.read() == content


def test_of_a_settled_file_the_tag_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, tags = tmp_path / "file", FileTags()
    file.write_bytes(b"abc")
    monkeypatch.setattr("dataplaneapi.api.etags.UNSETTLED", -(10**12))
    monkeypatch.setattr("dataplaneapi.api.etags.MOST_FILES", 1)
    with file.open("rb") as opened:
        known = tags.of(opened)
        monkeypatch.setattr("hashlib.blake2b", None)
        assert tags.of(opened) == known
    monkeypatch.undo()
    assert known == tag_of(b"abc")
    monkeypatch.setattr("dataplaneapi.api.etags.UNSETTLED", -(10**12))
    monkeypatch.setattr("dataplaneapi.api.etags.MOST_FILES", 1)
    (tmp_path / "other").write_bytes(b"x")
    with (tmp_path / "other").open("rb") as opened:
        tags.of(opened)
    assert len(tags._tags) == 1
