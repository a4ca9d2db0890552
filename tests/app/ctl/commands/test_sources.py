"""Files and directories that are followed; tests/docs/test_etcd.py has keys."""

import threading
from pathlib import Path

import pytest

from dataplaneapi.ctl.client import YAML
from dataplaneapi.ctl.commands.follow import EtcdKey, WatchedFiles, source
from dataplaneapi.ctl.failures import Failure


def test_a_file_is_no_state_until_it_is_there(tmp_path: Path) -> None:
    watched = WatchedFiles(str(tmp_path / "a.yaml"))
    assert watched.read() is None
    (tmp_path / "a.yaml").write_text("backends: []")
    first = watched.read()
    assert first is not None and (first.body, first.kind) == (b"backends: []", YAML)
    (tmp_path / "a.yaml").write_text("backends:  []")
    second = watched.read()
    assert second is not None and second.mark != first.mark
    watched.report("{}")
    assert (tmp_path / "a.yaml.status").read_text() == "{}"


def test_a_change_ends_the_wait_also_one_made_before_it(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x/a.yaml").write_text("backends: []")
    watched = WatchedFiles(f"{tmp_path}/x/")
    watched.read()
    (tmp_path / "x/b.yaml").write_text("frontends: []")
    watched.wait(600)
    watched.read()
    changing = threading.Timer(0.1, (tmp_path / "x/a.yaml").unlink)
    changing.start()
    watched.wait(600)
    changing.join()
    watched.report("{}")
    assert (tmp_path / "x.status").exists()


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="No such file"):
        WatchedFiles(str(tmp_path / "a"), str(tmp_path / "none/status")).report("")


def test_names_of_sources() -> None:
    key = source("etcd:/haproxy/edge", endpoints="http://a:1,http://b:2")
    assert isinstance(key, EtcdKey) and (key.key, key.etcd.endpoints) == ("/haproxy/edge", ["http://a:1", "http://b:2"])
    key = source("https://a:1//haproxy/edge")
    assert isinstance(key, EtcdKey) and (key.key, key.etcd.endpoints) == ("/haproxy/edge", ["https://a:1"])
    assert isinstance(source("/etc/x.yaml"), WatchedFiles)
    with pytest.raises(Failure, match="has no key"):
        source("http://a:1/")
