"""What a file gets that follows the process, whatever it holds."""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from haproxy_native.commit.change import Outcome
from haproxy_native.disk.directories import Directory
from haproxy_native.errors import RuntimeAbsent
from haproxy_native.planning.outcome import Reason
from haproxy_native.request_context import NOBODY
from haproxy_native.storage.list_store import PATTERNS, ListFormat
from haproxy_native.storage.live_lists import LiveList, check_live
from haproxy_native.storage.stores import GeneralStore


async def entries(runtime: Any, name: str) -> list[str]:
    return ["a", "b"]


# A file of words on one line each; the process has `a b`.
WORDS = replace(PATTERNS, read=entries)


@dataclass(frozen=True)
class Words(LiveList[str]):
    @property
    def format(self) -> ListFormat[str]:
        return WORDS


def words(site: Any, directory: Path) -> Words:
    store = GeneralStore("general", Directory(directory, "general_storage_dir"), directory.parent / "state")
    return Words(site, "words", "acl/words", NOBODY, store, directory / "words")


def edited(directory: Path, waiting: bool, *, whole: bool) -> str:
    """The file's next text when the process has `a b`, the file `a x`, and `c` is added."""
    directory = directory / "files"
    directory.mkdir(exist_ok=True)
    path = directory / "words"
    path.write_text("a\nx\n")
    site: Any = SimpleNamespace(runtime=None, ledger=SimpleNamespace(entries={str(path): None} if waiting else {}))
    drafted = asyncio.run(words(site, directory).drafted([], lambda before: [*before, "c"], whole=whole))
    draft = drafted.drafts[path]
    assert draft is not None
    assert bool(drafted.partial) is not whole
    try:
        return " ".join(draft.path.read_text().split())
    finally:
        draft.discard()


def test_it_gets_what_the_process_has(tmp_path: Path) -> None:
    assert edited(tmp_path, waiting=False, whole=False) == "a b c"


def test_what_the_process_has_yet_to_read_stays(tmp_path: Path) -> None:
    assert edited(tmp_path, waiting=True, whole=False) == "a x c"
    assert edited(tmp_path, waiting=True, whole=True) == "a b c"


def test_a_change_that_is_not_live_is_told() -> None:
    check_live(Outcome(1, None, live=True))
    with pytest.raises(RuntimeAbsent, match="it is unknown; the file has the change, and reload 7 loads it"):
        check_live(Outcome(1, "7", live=False, reasons=[Reason("it is unknown")]))
