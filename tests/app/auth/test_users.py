"""Where users come from, and when they are read again."""

import dataclasses
import json
from pathlib import Path

import pytest

from dataplaneapi.auth.users import NoUsers, Users
from dataplaneapi.settings.table import Settings
from haproxy_native.text.document import Document

ONE = Document.parse(b"userlist controller\n  user cfg insecure-password a\n  user gone insecure-password b\n\nbackend b\n\nbackend c\n")
TWO = Document.parse(b"userlist controller\n  user cfg insecure-password new\n\nbackend b\n")


class Configuration:
    """A configuration that can be exchanged."""

    def __init__(self, document: Document = ONE) -> None:
        self.document = document

    def __call__(self) -> Document:
        return self.document


def names(users: Users) -> list[str]:
    return [name for name in ("cfg", "gone", "file", "yaml", "stored") if users.find(name)]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(dataplane_storage_dir=str(tmp_path))


YAML = [{"name": "yaml", "password": "y", "insecure": True}, {"name": "stored", "password": "other", "insecure": True}]


def test_the_first_source_wins_as_a_whole(settings: Settings, tmp_path: Path) -> None:
    listed = tmp_path / "users.cfg"
    listed.write_text("userlist controller\n  user file insecure-password f\n")
    assert names(Users(settings, Configuration())) == ["cfg", "gone"]
    settings = dataclasses.replace(settings, userlist_file=str(listed))
    assert names(Users(settings, Configuration())) == ["file"]
    settings = dataclasses.replace(settings, users=YAML)
    assert names(Users(settings, Configuration())) == ["yaml", "stored"]
    (tmp_path / "cluster.json").write_text(json.dumps({"users": [{"name": "stored", "password": "s", "insecure": True}], "cluster": {}}))
    users = Users(settings, Configuration())
    assert names(users) == ["yaml", "stored"]
    stored = users.find("stored")
    assert stored is not None
    assert stored.password == "s"


def test_an_empty_cluster_file_is_no_source(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "cluster.json").write_text("")
    assert names(Users(settings, Configuration())) == ["cfg", "gone"]


def test_that_nobody_can_log_in_is_told(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    assert len(Users(dataclasses.replace(settings, userlist="none"), Configuration())) == 0
    assert "every request is answered with 401: add dataplaneapi.user or a userlist none" in caplog.text


def test_a_changed_userlist_counts_at_once(settings: Settings) -> None:
    configuration = Configuration()
    users = Users(settings, configuration)
    before = users.generation
    users.refresh()
    assert users.generation == before
    configuration.document = TWO
    users.refresh()
    assert names(users) == ["cfg"]
    assert users.generation == before + 1


def test_a_new_configuration_is_the_moment_to_look_at_the_files(
    settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    listed = tmp_path / "users.cfg"
    listed.write_text("userlist controller\n  user file insecure-password f\n")
    configuration = Configuration()
    users = Users(dataclasses.replace(settings, userlist_file=str(listed)), configuration)
    listed.write_text("userlist other\n")
    users.refresh()
    assert names(users) == ["file"]
    assert "the former users stay in effect: no users configured in" in caplog.text
    listed.write_text("userlist controller\n  user gone insecure-password g\n")
    configuration.document = TWO
    users.refresh()
    assert names(users) == ["gone"]
    (tmp_path / "cluster.json").write_text(json.dumps({"users": [{"name": "stored", "password": "s", "insecure": True}]}))
    configuration.document = ONE
    users.refresh()
    assert names(users) == ["stored"]


def test_a_change_elsewhere_costs_no_verdict(settings: Settings) -> None:
    configuration = Configuration()
    users = Users(settings, configuration)
    backend = ONE.find("backend", "b")
    assert backend is not None
    configuration.document = ONE.remove(backend)
    before = users.generation
    users.refresh()
    assert users.generation == before


def test_users_of_the_settings_do_not_follow_the_configuration(settings: Settings) -> None:
    configuration = Configuration()
    users = Users(dataclasses.replace(settings, users=YAML), configuration)
    configuration.document = TWO
    users.refresh()
    assert names(users) == ["yaml", "stored"]


@pytest.mark.parametrize(
    ("text", "message"),
    [(None, "file does not exist"), ("userlist other\n  user a insecure-password b\n", "no users configured in")],
)
def test_a_userlist_file_must_be_there(settings: Settings, tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "users.cfg"
    if text is not None:
        path.write_text(text)
    with pytest.raises(NoUsers, match=message):
        Users(dataclasses.replace(settings, userlist_file=str(path)), Configuration())


@pytest.mark.parametrize(
    "text", [b"{not json", b'{"users": 5}', b'{"users": [5]}', b"[]", b'{"users": [{"name": "\xff"}]}', b"[" * 100_000]
)
def test_a_failed_reading_keeps_the_users(settings: Settings, tmp_path: Path, text: bytes) -> None:
    users = Users(settings, Configuration())
    (tmp_path / "cluster.json").write_bytes(text)
    with pytest.raises(NoUsers, match=r"cluster\.json is not valid"):
        users.read(settings)
    assert names(users) == ["cfg", "gone"]
