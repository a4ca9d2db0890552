"""Every directory of the settings has its name, and one that cannot be used disables what is kept in it and nothing else."""

from pathlib import Path

import pytest

from dataplaneapi.settings.directories import directories, log_unusable, unusable
from dataplaneapi.settings.table import Settings, table
from tests.app.client import CONFIG, serving, settings

DIRECTORIES = {name for name, _, _ in table() if name.endswith("_dir")} - {"backups_dir"}
TRANSACTIONS = "/v3/services/haproxy/transactions"


def test_all_are_named() -> None:
    assert set(directories(Settings(acl_dir="/a"))) == DIRECTORIES
    assert DIRECTORIES - set(directories(Settings())) == {"acl_dir"}


def test_what_cannot_be_used_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "maps").write_text("")
    named = directories(
        settings(tmp_path, **{name: str(tmp_path / "there") for name in DIRECTORIES} | {"maps_dir": str(tmp_path / "maps")})
    )
    assert [text.split(": ")[0] for text in unusable(named.values())] == [f"maps_dir {tmp_path}/maps cannot be used"]
    assert not (tmp_path / "there").exists()
    log_unusable(named.values())
    assert "operations that need it fail: maps_dir" in caplog.text


def test_without_a_directory_for_refused_texts_transactions_go_on(tmp_path: Path) -> None:
    (tmp_path / "transactions").write_text("")
    with serving(tmp_path) as client:
        id_ = client.post(f"{TRANSACTIONS}?version=1").json["id"]
        assert client.post(f"{CONFIG}/backends?transaction_id={id_}", {"name": "b"}).status == 202
        assert [each["id"] for each in client.get(TRANSACTIONS).json] == [id_]
        assert client.put(f"{TRANSACTIONS}/{id_}").status == 202
