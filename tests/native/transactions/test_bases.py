"""A base is stored once, found again, and forgotten with its last transaction."""

import os
from pathlib import Path

import pytest

from haproxy_native.text.document import Document
from haproxy_native.transactions.bases import Bases


def test_once_for_each_content(tmp_path: Path) -> None:
    bases = Bases(tmp_path / "bases", tmp_path / "haproxy.cfg")
    first, same, other = (Document.parse(text) for text in ("global\n", "global\n", "global\n\n"))
    keys = [bases.store(document) for document in (first, first, same, other)]
    assert keys[0] == keys[1] == keys[2] != keys[3]
    assert len(os.listdir(tmp_path / "bases")) == 2
    assert Bases(tmp_path / "bases", tmp_path / "haproxy.cfg").load(keys[3]).text == "global\n\n"


def test_what_nobody_uses_goes(tmp_path: Path) -> None:
    bases = Bases(tmp_path / "bases", tmp_path / "haproxy.cfg")
    kept, gone = bases.store(Document.parse("global\n")), bases.store(Document.parse("defaults\n"))
    (tmp_path / "bases" / "others.file").touch()
    bases.keep_only({kept})
    assert sorted(os.listdir(tmp_path / "bases")) == sorted([f"haproxy.cfg.{kept}", "others.file"])
    with pytest.raises(FileNotFoundError):
        bases.load(gone)
    (tmp_path / "bases" / "others.file").unlink()
    bases.keep_only(set())
    assert not (tmp_path / "bases").exists()
    bases.keep_only(set())
