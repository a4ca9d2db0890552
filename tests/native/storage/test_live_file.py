"""What a file gets that follows the process, whatever it holds."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from haproxy_native.commit.change import Outcome
from haproxy_native.disk.directories import Directory
from haproxy_native.errors import NotFound, RuntimeAbsent
from haproxy_native.planning.outcome import Reason
from haproxy_native.request_context import NOBODY
from haproxy_native.storage.live_maps import LiveFile, check_live
from haproxy_native.storage.stores import GeneralStore


@dataclass(frozen=True)
class Words(LiveFile[str]):
    """A file of words on one line; the process has `there`."""

    there: Sequence[str] = ()

    async def entries(self) -> list[str]:
        return list(self.there)

    def parse(self, text: str) -> list[str]:
        return text.split()

    def edited(self, text: str, entries: Sequence[str]) -> str:
        return " ".join(entries)


def edited(directory: Path, waiting: bool, *, whole: bool) -> str:
    """The file's next text when the process has `a b`, the file `a x`, and `c` is added."""
    path = directory / "words"
    path.write_text("a x")
    site: Any = SimpleNamespace(ledger=SimpleNamespace(entries={str(path): None} if waiting else {}))
    words = Words(site, GeneralStore("general", Directory(directory, "general_storage_dir"), directory / "state"), path, NOBODY, ["a", "b"])
    drafted = asyncio.run(words.drafted([], lambda before: [*before, "c"], whole=whole))
    draft = drafted.drafts[path]
    assert draft is not None
    assert bool(drafted.partial) is not whole
    try:
        return draft.path.read_text()
    finally:
        draft.discard()


def test_it_gets_what_the_process_has(tmp_path: Path) -> None:
    assert edited(tmp_path, waiting=False, whole=False) == "a b c"


def test_what_the_process_has_yet_to_read_stays(tmp_path: Path) -> None:
    assert edited(tmp_path, waiting=True, whole=False) == "a x c"
    assert edited(tmp_path, waiting=True, whole=True) == "a b c"


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    site: Any = None
    with pytest.raises(NotFound, match="file none doesn't exist in dir"):
        Words(site, GeneralStore("general", Directory(tmp_path, "general_storage_dir"), tmp_path), tmp_path / "none", author=NOBODY).text()


def test_a_change_that_is_not_live_is_told() -> None:
    check_live(Outcome(1, None, live=True))
    with pytest.raises(RuntimeAbsent, match="it is unknown; the file has the change, and reload 7 loads it"):
        check_live(Outcome(1, "7", live=False, reasons=[Reason("it is unknown")]))


def test_a_link_that_leads_out_of_the_directory(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("a")
    (tmp_path / "words").mkdir()
    path = tmp_path / "words" / "words"
    path.symlink_to("../secret")
    site: Any = SimpleNamespace(ledger=SimpleNamespace(entries={}))
    store = GeneralStore("general", Directory(path.parent, "general_storage_dir"), tmp_path / "state")
    with pytest.raises(NotFound, match="file words doesn't exist"):
        Words(site, store, path, author=NOBODY).text()
