"""The settings of a fleet, and what is refused of them."""

from pathlib import Path
from typing import Any

import pytest

from dataplaneapi.features.fleet.settings import read_fleet
from dataplaneapi.settings.table import SettingsError
from haproxy_native.features.fleet.sealing import new_secret


def _given(directory: Path, **more: Any) -> dict[str, Any]:
    (key := directory / "fleet.key").write_text(f"{new_secret()}\n")
    key.chmod(0o640)
    return {"group": "edge", "endpoints": ["https://etcd1:2379/"], "keys": [str(key)], **more}


def test_defaults(tmp_path: Path) -> None:
    found = read_fleet(_given(tmp_path), "lb1")
    assert found and (found.node, found.path, found.refuses_local) == ("lb1", "/dataplaneapi/edge", True)
    assert found.etcd.endpoints == ["https://etcd1:2379"] and len(found.secrets[0]) == 32 and found.files == []
    assert read_fleet({}, "lb1") is None


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"nodes": 3}, "unknown key 'nodes'"),
        ({"group": ""}, "group must consist of letters"),
        ({"node": "a/b"}, "node must consist of letters"),
        ({"endpoints": "https://etcd1:2379"}, "endpoints must be a list"),
        ({"endpoints": ["etcd1:2379"]}, "an endpoint must be as in"),
        ({"prefix": "edge"}, "prefix must be as in"),
        ({"local_changes": "yes"}, "local_changes must be refuse or drift"),
        ({"files": "maps"}, "files must be a list of maps, acls"),
        ({"files": ["maps", "spoe"]}, "files must be a list of maps, acls"),
        ({"keys": ["/nowhere"]}, "/nowhere cannot be read"),
        ({"password_file": "/nowhere"}, "/nowhere cannot be read"),
    ],
)
def test_what_is_refused(tmp_path: Path, wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        read_fleet(_given(tmp_path, **wrong), "lb1")


def test_a_key_that_everybody_may_read_or_that_is_none(tmp_path: Path) -> None:
    given = _given(tmp_path)
    (tmp_path / "fleet.key").chmod(0o644)
    with pytest.raises(SettingsError, match="chmod o="):
        read_fleet(given, "lb1")
    (tmp_path / "fleet.key").chmod(0o600)
    (tmp_path / "fleet.key").write_text("secret\n")
    with pytest.raises(SettingsError, match="it is no key of a fleet"):
        read_fleet(given, "lb1")
