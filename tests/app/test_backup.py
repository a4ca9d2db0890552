"""Run `dataplaneapi backup` and `dataplaneapi restore` without a server."""

import io
import random
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from dataplaneapi import backup
from haproxy_native.disk.database import KEYS, STATE, SqliteConnection, State
from tests.databases import connected


def settings(tmp_path: Path) -> list[str]:
    file = tmp_path / "settings.yaml"
    resources, haproxy = {"dataplane_storage_dir": str(tmp_path / "dataplane")}, {"config_file": str(tmp_path / "haproxy.cfg")}
    file.write_text(yaml.safe_dump({"dataplaneapi": {"resources": resources}, "haproxy": haproxy}))
    return ["-f", str(file)]


def run(command: str, *argv: str) -> object:
    with pytest.raises(SystemExit) as ended:
        backup.main(command, argv)
    return ended.value.code


def words(connection: SqliteConnection) -> list[str]:
    return [word for (word,) in connection.execute("SELECT word FROM word ORDER BY rowid")]


def test_there_and_back(tmp_path: Path) -> None:
    """The databases are in use, and have rows that are only in their logs."""
    directory, file = tmp_path / "dataplane", tmp_path / "backup.tar.gz"
    (directory / "service_discovery").mkdir(parents=True)
    (directory / "service_discovery" / "consul.json").write_text("{}")
    (directory / "service_discovery" / "consul.json").chmod(0o640)
    (directory / ".a.json.00000000-0000-4000-8000-000000000000").write_text("a draft")
    (directory / "link").symlink_to("/etc/passwd")
    with closing(State(directory / "engine/state")) as state:
        for connection, word in ((state, "one"), (state.keys, "secret")):
            connection.execute("CREATE TABLE word (word TEXT)")
            connection.execute("INSERT INTO word VALUES (?)", (word,))
        assert run("backup", str(file), *settings(tmp_path)) == 0
        state.execute("INSERT INTO word VALUES ('later')")
        assert file.stat().st_mode & 0o777 == 0o600
        assert "is not empty; stop the server and move it aside" in str(run("restore", str(file), *settings(tmp_path)))
    directory.rename(tmp_path / "aside")
    assert run("restore", str(file), *settings(tmp_path)) == 0
    assert (directory / "service_discovery" / "consul.json").read_text() == "{}"
    assert (directory / "service_discovery" / "consul.json").stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in directory.rglob("*") if path.is_file()) == ["consul.json", KEYS, STATE]
    assert {path.stat().st_mode & 0o777 for path in (directory / "engine/state").iterdir()} == {0o600}
    with closing(State(directory / "engine/state")) as state:
        assert (words(state), words(state.keys)) == (["one"], ["secret"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["aside", "backup.tar.gz", "dataplane", "settings.yaml"]


def test_what_cannot_be_backed_up(tmp_path: Path) -> None:
    file = tmp_path / "backup.tar.gz"
    file.write_text("a former one")
    assert run("backup", str(file), *settings(tmp_path)) == f"dataplaneapi backup: {tmp_path}/dataplane: No such file or directory"
    (tmp_path / "dataplane/engine/state").mkdir(parents=True)
    (tmp_path / "dataplane/engine/state" / STATE).write_bytes(b"no database" * 1000)
    assert run("backup", str(file), *settings(tmp_path)) == "dataplaneapi backup: file is not a database"
    assert file.read_text() == "a former one"
    assert "it would be part of the next backup" in str(run("backup", f"{tmp_path}/dataplane/x", *settings(tmp_path)))
    assert run("backup", f"{tmp_path}/none/x", *settings(tmp_path)) != 0


@pytest.mark.parametrize("name", ["../evil", "/tmp/evil", "a/../../evil"])
def test_what_is_no_backup(tmp_path: Path, name: str) -> None:
    (tmp_path / "text").write_text("no archive")
    assert str(run("restore", str(tmp_path / "text"), *settings(tmp_path))).startswith("dataplaneapi restore: ")
    assert "No such file" in str(run("restore", str(tmp_path / "none"), *settings(tmp_path)))
    with tarfile.open(tmp_path / "evil.tar", "w:gz") as archive:
        archive.addfile(tarfile.TarInfo(name), io.BytesIO(b""))
    refusal = str(run("restore", str(tmp_path / "evil.tar"), *settings(tmp_path)))
    assert refusal.startswith(f"dataplaneapi restore: {tmp_path}/evil.tar ") and f"{name} is no file of a backup" in refusal
    assert not (tmp_path / "dataplane").exists() and not (tmp_path / "evil").exists()


@pytest.mark.parametrize("damage", ["a bit", "checksum", "end", "tail", "all"])
def test_a_damaged_backup(tmp_path: Path, damage: str) -> None:
    directory, file = tmp_path / "dataplane", tmp_path / "backup.tar.gz"
    directory.mkdir()
    (directory / "notes.json").write_bytes(random.Random(1).randbytes(100_000))
    assert run("backup", str(file), *settings(tmp_path)) == 0
    directory.rename(tmp_path / "aside")
    whole = bytearray(file.read_bytes())
    whole[{"a bit": len(whole) // 2, "checksum": -8}.get(damage, 0)] ^= 1 if damage in ("a bit", "checksum") else 0
    file.write_bytes(whole[: {"end": len(whole) // 2, "tail": -4, "all": 0}.get(damage)])
    assert str(run("restore", str(file), *settings(tmp_path))).startswith(f"dataplaneapi restore: {file} is no backup, or is damaged: ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["aside", "backup.tar.gz", "settings.yaml"]


def test_both_databases_are_of_one_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If both databases are written while one is being copied, neither copy has the new rows."""
    copy = backup._copy_database
    with closing(State(tmp_path / "dataplane/engine/state")) as state:
        for connection in (state, state.keys):
            connection.execute("CREATE TABLE word (word TEXT)")

        def writing(source: sqlite3.Connection, database: Path, to: Path) -> None:
            copy(source, database, to)
            with state.transaction(), state.keys.transaction():
                for connection in (state, state.keys):
                    connection.execute("INSERT INTO word VALUES ('late')")

        monkeypatch.setattr(backup, "_copy_database", writing)
        backup.backup(tmp_path / "dataplane", tmp_path / "b")
        assert state.keys.execute("SELECT count(*) FROM word").fetchone() == (2,)
    with tarfile.open(tmp_path / "b") as archive:
        extract(archive, tmp_path / "out")
    for name in (STATE, KEYS):
        with connected(tmp_path / "out/engine/state" / name) as database:
            assert database.execute("SELECT count(*) FROM word").fetchone() == (0,)


def extract(archive: tarfile.TarFile, to: Path) -> None:
    """Unpack all files. Before 3.11.4, as on Debian 12, Python has no filters; later versions warn if there is none."""
    if hasattr(tarfile, "data_filter"):
        archive.extraction_filter = tarfile.data_filter
    archive.extractall(to)


def test_a_copy_is_whole(tmp_path: Path) -> None:
    """The copy is complete although rows are committed while it is made."""
    with closing(State(tmp_path / "dataplane/engine/state")) as state:
        state.execute("CREATE TABLE word (word TEXT)")
        state.executemany("INSERT INTO word VALUES (?)", [("x" * 1000,) for _ in range(2000)])
        backup.backup(tmp_path / "dataplane", tmp_path / "b")
    with tarfile.open(tmp_path / "b") as archive:
        extract(archive, tmp_path / "out")
    with connected(tmp_path / "out/engine/state" / STATE) as copy:
        assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert copy.execute("SELECT count(*) FROM word").fetchone() == (2000,)
