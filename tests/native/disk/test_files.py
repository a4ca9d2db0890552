"""Several files are replaced together or not at all, whatever happens; what is not changed is not touched."""

import errno
import os
import uuid
from pathlib import Path

import pytest

from haproxy_native.disk.file import ConfigFile
from haproxy_native.disk.files import ConfigFiles
from haproxy_native.disk.journal import ManifestEntry
from haproxy_native.errors import Conflict, NativeError, NotFound, Unreadable, WriteFailed
from haproxy_native.text import parts
from haproxy_native.text.document import Document
from tests.native.disk.failing import FailingSystem, fail_with, kill
from tests.native.disk.test_file import Bound

OLD = {"00-global.cfg": b"global\n", "10-web.cfg": b"frontend f\n", "haproxy.cfg": b"# main\nbackend b\n"}
NEW = {"00-global.cfg": b"global\n  maxconn 5\n", "10-web.cfg": b"frontend f\n  bind :1\n" * 500, "haproxy.cfg": b"# new\nbackend b\n"}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "etc").mkdir()
    (tmp_path / "state").mkdir()
    for name, data in OLD.items():
        (tmp_path / "etc" / name).write_bytes(data)
    return tmp_path / "etc"


def files(directory: Path, system: object = os) -> ConfigFiles:
    names = [str(directory / name) for name in OLD if name != "haproxy.cfg"]
    return ConfigFiles(directory / "haproxy.cfg", directory.parent / "state", names, system=system)


def joined(directory: Path, contents: dict[str, bytes]) -> bytes:
    return parts.join([("" if name == "haproxy.cfg" else str(directory / name), data) for name, data in contents.items()])


def write(directory: Path, contents: dict[str, bytes], system: object = os) -> None:
    files(directory, system).draft(Document.parse(joined(directory, contents)), str(uuid.uuid4())).install()


def found(directory: Path) -> dict[str, bytes]:
    return {name: (directory / name).read_bytes() for name in OLD}


def rest(directory: Path) -> list[str]:
    return sorted(set(os.listdir(directory)) - set(OLD)) + sorted(os.listdir(directory.parent / "state"))


def test_the_order_is_haproxys(tmp_path: Path) -> None:
    for name in (
        "z.cfg",
        "haproxy.cfg",
        "conf.d/b.cfg",
        "conf.d/B.cfg",
        "conf.d/a.cfg",
        "conf.d/.x.cfg",
        "conf.d/readme",
        "conf.d/d.cfg/x",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).touch()
    here = ConfigFiles(tmp_path / "haproxy.cfg", tmp_path, [str(tmp_path / "z.cfg")], [str(tmp_path / "conf.d")])
    assert here.names() == [str(tmp_path / "z.cfg"), "", *(str(tmp_path / "conf.d" / name) for name in ("B.cfg", "a.cfg", "b.cfg"))]
    inside = ConfigFiles(tmp_path / "conf.d" / "a.cfg", tmp_path, [], [str(tmp_path / "conf.d")])
    assert [Path(name).name for name in inside.names()] == ["B.cfg", "", "b.cfg"]
    assert ConfigFiles(tmp_path / "haproxy.cfg", tmp_path).names() == [""]


def test_a_file_is_found_by_its_name(directory: Path) -> None:
    here = files(directory)
    assert here.resolve_name("10-web.cfg") == here.resolve_name(str(directory / "10-web.cfg")) == str(directory / "10-web.cfg")
    assert here.resolve_name("haproxy.cfg") == here.resolve_name(str(directory / "haproxy.cfg")) == ""
    with pytest.raises(NotFound, match=r"passwd is not one of the configuration's files: .*haproxy.cfg, .*00-global.cfg"):
        here.resolve_name("/etc/passwd")
    (directory / "more").mkdir()
    (directory / "more" / "10-web.cfg").touch()
    twice = ConfigFiles(directory / "haproxy.cfg", directory, [str(directory / "10-web.cfg"), str(directory / "more")])
    with pytest.raises(NotFound, match="more than one"):
        twice.resolve_name("10-web.cfg")


def test_only_what_changes_is_written(directory: Path) -> None:
    before = {name: (directory / name).stat() for name in OLD}
    write(directory, {**OLD, "10-web.cfg": NEW["10-web.cfg"]})
    assert found(directory) == {**OLD, "10-web.cfg": NEW["10-web.cfg"]}
    assert rest(directory) == []
    assert (directory / "00-global.cfg").stat().st_mtime_ns == before["00-global.cfg"].st_mtime_ns
    assert (directory / "10-web.cfg").stat().st_ino != before["10-web.cfg"].st_ino


def test_what_a_file_holds(tmp_path: Path) -> None:
    path, data = tmp_path / "haproxy.cfg", b"# caf\xe9\n" + b"backend b\n    mode http\n" * 5000
    here, document = ConfigFiles(path, tmp_path), Document.parse(data)
    assert not here.contains_only(document)
    for content in (data, data + b"\n", data[:-1], data.replace(b"http", b"http", 1).replace(b"caf", b"CAF"), b""):
        path.write_bytes(content)
        assert here.contains_only(document) is (content == data)


def test_of_several_files_none_is_compared(directory: Path) -> None:
    assert not files(directory).contains_only(Document.parse(joined(directory, OLD)))


def test_haproxy_is_asked_about_all_of_them(directory: Path) -> None:
    contents = {**OLD, "10-web.cfg": NEW["10-web.cfg"]}
    drafts = files(directory).draft(Document.parse(joined(directory, contents)), str(uuid.uuid4()))
    checked = drafts.checked(Document.parse(joined(directory, contents)))
    assert [each.file.name for each in checked] == list(OLD)
    assert [each.path.read_bytes() for each in checked] == list(contents.values())
    assert [each.path == each.file for each in checked] == [True, False, False]
    assert [each.main for each in checked] == [False, False, True]
    assert [each.document and each.document.data for each in checked] == list(contents.values())
    drafts.discard()
    assert rest(directory) == []


def test_every_edit_by_others_is_seen(directory: Path) -> None:
    here = ConfigFiles(directory / "haproxy.cfg", directory.parent / "state", [], [str(directory)])
    seen = here.read_stamp()
    assert here.read_stamp() == seen
    (directory / ".haproxy.cfg.draft").touch()
    assert here.read_stamp() == seen, "drafts are not theirs"
    for change in (
        lambda: (directory / "10-web.cfg").write_bytes(b"frontend other\n"),
        lambda: (directory / "20-new.cfg").touch(),
        lambda: (directory / "20-new.cfg").unlink(),
        lambda: (directory / "00-global.cfg").rename(directory / "01-global.cfg"),
    ):
        before = here.read_stamp()
        assert before
        change()
        after = here.read_stamp()
        assert after != before
        assert after
        assert after.written >= before.written
    (directory / "haproxy.cfg").unlink()
    assert here.read_stamp() is None


def test_one_that_cannot_be_read(directory: Path) -> None:
    (directory / "10-web.cfg").unlink()
    with pytest.raises(Unreadable, match=r"Cannot read .*/10-web.cfg"):
        files(directory).read()
    (directory / "10-web.cfg").write_bytes(b"\0file:x\0")
    with pytest.raises(Unreadable, match=r"10-web.cfg contains a NUL"):
        files(directory).read()


def test_other_files_than_before(directory: Path) -> None:
    with pytest.raises(WriteFailed, match="no longer made of the same files: .*other.cfg"):
        files(directory).draft(Document.parse(joined(directory, {**OLD, "other.cfg": b""})), str(uuid.uuid4()))
    assert rest(directory) == []


def test_an_edit_at_the_last_moment(directory: Path) -> None:
    drafts = files(directory).draft(Document.parse(joined(directory, NEW)), str(uuid.uuid4()))
    with pytest.raises(Conflict):
        drafts.install(lambda: False)
    assert (found(directory), rest(directory)) == (OLD, [])


class InPlace(Bound):
    """None of the files can be replaced."""

    def __init__(self, directory: Path, at: int = -1, do=lambda name: None) -> None:
        super().__init__(directory, at=at, do=do, half=True)

    def _refusing(self, real):
        def replace(source, target):
            if Path(target).name in OLD:
                raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
            return real(source, target)

        return replace


def renaming(directory: Path, at: int = -1, do=lambda name: None) -> FailingSystem:
    return FailingSystem(at, do, half=True)


def steps(directory: Path, way) -> int:
    system = way(directory)
    write(directory, NEW, system)
    assert found(directory) == NEW
    write(directory, OLD)
    return len(system.calls)


@pytest.mark.parametrize("way", [renaming, InPlace])
def test_a_failure_at_any_step_leaves_all_old_or_all_new(directory: Path, way) -> None:
    for at in range(steps(directory, way)):
        for name, data in OLD.items():
            (directory / name).write_bytes(data)
        try:
            write(directory, NEW, way(directory, at, fail_with(errno.EIO)))
        except NativeError:
            assert found(directory) == OLD, f"step {at}"
        else:
            assert found(directory) == NEW, f"step {at}"


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.soak)])
@pytest.mark.parametrize("way", [renaming, InPlace])
def test_a_kill_at_any_step_leaves_all_old_or_all_new(directory: Path, way, every: int) -> None:
    seen = []
    for at in range(0, steps(directory, way), every):
        for name, data in OLD.items():
            (directory / name).write_bytes(data)
        child = os.fork()
        if child == 0:
            try:
                write(directory, NEW, way(directory, at, kill))
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        files(directory).recover()
        assert found(directory) in (OLD, NEW), f"step {at}"
        assert [name for name in rest(directory) if not name.endswith(".new")] == [], f"step {at}"
        seen.append(found(directory) == NEW)
    assert sorted(set(seen)) == [False, True]
    assert seen == sorted(seen), "once it is new it stays so"


def test_recovery_leaves_alone_what_somebody_else_wrote_since(directory: Path) -> None:
    here = files(directory)
    entries = [(str(directory / name), OLD[name], NEW[name]) for name in OLD]
    here.manifest.begin([ManifestEntry(*each) for each in entries])
    (directory / "00-global.cfg").write_bytes(NEW["00-global.cfg"])
    (directory / "10-web.cfg").write_bytes(b"by hand\n")
    assert here.recover()
    assert found(directory) == {**NEW, "10-web.cfg": b"by hand\n"}
    assert not here.recover()
    assert rest(directory) == []


def test_two_of_one_name_do_not_share_a_journal(directory: Path) -> None:
    here = files(directory)
    labels = {here.file(name).journal.path for name in (*here.names(), "/elsewhere/10-web.cfg")}
    assert len(labels) == 4
    assert isinstance(here.main, ConfigFile)
