"""File, document and version agree, by which process ever the file is written."""

import asyncio
import errno
import os
import threading
import uuid
from pathlib import Path

import pytest

from haproxy_native.commit.current import Current
from haproxy_native.disk.files import ConfigFiles
from haproxy_native.editing import header
from haproxy_native.errors import Unreadable, WriteFailed
from haproxy_native.text.document import Document
from tests.native.commit.rows import row_in
from tests.native.disk.failing import FailingSystem
from tests.native.engines import checksum_fits

TEXT = "# _version=4\nglobal\n\nbackend a\n"


@pytest.fixture
def current(tmp_path: Path) -> Current:
    (tmp_path / "haproxy.cfg").write_text(TEXT)
    current = Current(ConfigFiles(tmp_path / "haproxy.cfg", tmp_path), row_in(tmp_path))
    current.open()
    return current


def test_opened(current: Current) -> None:
    assert (current.document.text, current.version, current.banner) == (TEXT, 4, True)
    assert current.changed_stamp() is None
    assert not current.notice()


async def install(current: Current) -> None:
    stamped, draft = current.prepare(Document.parse(TEXT + "backend b\n"), 5, False, "00000000-0000-4000-8000-000000000000")
    await current.install(stamped, draft, False)


def test_our_own_write_is_no_surprise(current: Current, tmp_path: Path) -> None:
    asyncio.run(install(current))
    assert current.changed_stamp() is None
    assert not current.notice()
    assert (current.version, current.banner) == (5, False)
    assert current.document.data == (tmp_path / "haproxy.cfg").read_bytes()
    assert checksum_fits(current.document.data)


def test_an_outsider_s_write_is_taken_over(current: Current, tmp_path: Path) -> None:
    before = current.document
    current.banner = False
    (tmp_path / "haproxy.cfg").write_text(TEXT + "backend b\n")
    assert current.changed_stamp()
    assert current.notice()
    assert (current.version, current.banner, current.changed_stamp()) == (5, True, None)
    assert current.document.text == TEXT + "backend b\n"
    assert current.document.sections[0] is before.sections[0], "what did not change is shared"


def test_an_outsider_s_write_right_behind_ours(current: Current, tmp_path: Path) -> None:
    """Of the same size, into the same file, within one tick of the kernel's clock for files."""
    file = tmp_path / "haproxy.cfg"
    for number in range(50):
        asyncio.run(install(current))
        assert current.is_settled
        with file.open("r+b") as opened:
            opened.seek(-2, os.SEEK_END)
            opened.write(b"%d" % (number % 10))
        assert current.notice()
        assert current.document.data == file.read_bytes()


def test_a_file_that_was_only_touched_is_compared(current: Current, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asyncio.run(install(current))
    os.utime(tmp_path / "haproxy.cfg")
    monkeypatch.setattr(current.file, "read", lambda: pytest.fail("read as a whole"))
    assert not current.notice()
    assert current.changed_stamp() is None


class Slow(ConfigFiles):
    """A file that is read when `go` is set; `reading` is set when it is to be read."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, path.parent)
        self.go, self.reading = threading.Event(), threading.Event()
        self.go.set()

    def read(self) -> bytes:
        data = super().read()
        self.reading.set()
        assert self.go.wait(60)
        return data


def test_the_loop_goes_on_while_an_edit_is_read_and_what_a_commit_overtakes_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "haproxy.cfg"
    path.write_text(TEXT)
    files = Slow(path)
    current = Current(files, row_in(tmp_path))
    current.open()

    async def work() -> None:
        path.write_text(TEXT + "backend by-hand\n")
        files.go.clear()
        files.reading.clear()
        noticing = asyncio.create_task(current.notice_in_thread())
        assert await asyncio.to_thread(files.reading.wait, 60)
        path.write_text(TEXT)
        files.go.set()
        assert not current.notice(), "it is as it was"
        stamped, draft = current.prepare(Document.parse(TEXT + "backend ours\n"), 5, False, str(uuid.uuid4()))
        await current.install(stamped, draft, False)
        assert not await noticing
        assert (current.version, current.document.sections[-1].name) == (5, "ours")
        path.write_text(TEXT + "backend by-hand\n")
        assert await current.notice_in_thread()
        assert (current.version, current.document.sections[-1].name) == (6, "by-hand")
        path.write_text("# _version=4\nglobal\n")
        assert not await current.open_in_thread()
        assert current.version == 4

    asyncio.run(work())


def test_a_fitting_checksum_does_not_hide_another_text(current: Current, tmp_path: Path) -> None:
    (tmp_path / "haproxy.cfg").write_bytes(header.with_header(Document.parse("global\n"), 2, banner=True).data)
    assert current.notice()
    assert current.version == 5


def test_reading_again_does_not_count(current: Current, tmp_path: Path) -> None:
    (tmp_path / "haproxy.cfg").write_text("# _version=4\nglobal\n")
    current.open()
    assert (current.version, current.document.text) == (4, "# _version=4\nglobal\n")


def test_a_file_that_is_gone(current: Current, tmp_path: Path) -> None:
    os.unlink(tmp_path / "haproxy.cfg")
    with pytest.raises(Unreadable):
        current.notice()
    assert current.document.text == TEXT
    (tmp_path / "haproxy.cfg").write_text(TEXT)
    assert not current.notice(), "it came back as it was"


class Bound(FailingSystem):
    """`file` cannot be replaced, and as many writes into it fail, the first of them half-way."""

    def __init__(self, file: Path, failures: int) -> None:
        super().__init__()
        self.file, self.failures, self.done = str(file), failures, 0

    def replace(self, source: str, target: str) -> None:
        if str(target) == self.file:
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
        os.replace(source, target)

    def write(self, handle: int, data: bytes) -> int:
        if os.readlink(f"/proc/self/fd/{handle}") != self.file or self.done == self.failures:
            return os.write(handle, data)
        if not self.done:
            os.write(handle, data[: len(data) // 2])
        self.done += 1
        raise OSError(errno.EIO, os.strerror(errno.EIO))


def failed_write(path: Path, failures: int) -> Current:
    """Of another text, after so many failures; the file then is torn."""
    path.write_text(TEXT)
    current = Current(ConfigFiles(path, path.parent, system=Bound(path, failures)), row_in(path.parent))
    current.open()

    async def install() -> None:
        stamped, draft = current.prepare(Document.parse(TEXT.replace("backend", "frontend")), 5, False, str(uuid.uuid4()))
        await current.install(stamped, draft, False)

    with pytest.raises(WriteFailed):
        asyncio.run(install())
    return current


def test_what_a_failed_write_left_torn_is_nobody_s_edit(tmp_path: Path) -> None:
    path = tmp_path / "haproxy.cfg"
    current = failed_write(path, 2)
    assert path.read_text() != TEXT
    assert not current.notice()
    assert (path.read_text(), current.version, current.document.text) == (TEXT, 4, TEXT)
    assert sorted(os.listdir(tmp_path)) == ["haproxy.cfg", "state"]


def test_one_that_cannot_be_put_back_is_told(tmp_path: Path) -> None:
    path = tmp_path / "haproxy.cfg"
    current = failed_write(path, 3)
    with pytest.raises(Unreadable, match="is half written since a write failed, and cannot be put back: Input/output error"):
        current.notice()
    assert (current.version, current.document.text) == (4, TEXT)
    assert not current.notice()
    assert path.read_text() == TEXT


def test_a_failed_write_hides_nobody_s_edit(tmp_path: Path) -> None:
    current = failed_write(tmp_path / "haproxy.cfg", 1)
    assert (tmp_path / "haproxy.cfg").read_text() == TEXT
    (tmp_path / "haproxy.cfg").write_text("global\n")
    assert current.notice()
    assert (current.version, current.document.text) == (5, "global\n")
