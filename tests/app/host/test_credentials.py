"""Files from the service manager, and who uses them."""

from pathlib import Path

import pytest

from dataplaneapi.auth.users import Users
from dataplaneapi.host import credentials
from dataplaneapi.server.endpoint import endpoints
from dataplaneapi.settings.table import Settings
from haproxy_native.text.document import Document


def test_where_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    assert credentials.path("users") == ""
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    assert credentials.path("users") == ""
    (tmp_path / "users").touch()
    assert credentials.path("users") == ""
    (tmp_path / "users").write_text("userlist controller\n")
    assert credentials.path("users") == str(tmp_path / "users")


def test_users_stand_in_where_the_settings_name_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, user in {"users": "handed", "named": "named"}.items():
        (tmp_path / name).write_text(f"userlist controller\n  user {user} insecure-password x\n")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    document = Document.parse(b"userlist controller\n  user configured insecure-password x\n")

    def found(**changed: str) -> list[str]:
        users = Users(Settings(dataplane_storage_dir=str(tmp_path), **changed), lambda: document)
        return [name for name in ("handed", "named", "configured") if users.find(name)]

    assert found() == ["handed"]
    assert found(userlist_file=str(tmp_path / "named")) == ["named"]


def test_a_certificate_and_its_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tls.crt", "tls.key"):
        (tmp_path / name).write_text("-----BEGIN\n")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    (handed,) = endpoints(Settings(scheme=["https"], tls_port=1))
    assert (handed.certificate, handed.key) == (str(tmp_path / "tls.crt"), str(tmp_path / "tls.key"))
    (named,) = endpoints(Settings(scheme=["https"], tls_port=1, tls_certificate="/c", tls_key="/k"))
    assert (named.certificate, named.key) == ("/c", "/k")
