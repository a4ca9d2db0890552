"""What `dataplaneapi doctor` says about a fleet, beside a real etcd."""

import asyncio
from dataclasses import replace
from pathlib import Path

from dataplaneapi.doctor.finding import ERROR, NOTE, OK, WARNING
from dataplaneapi.features.fleet.doctor import findings
from dataplaneapi.features.fleet.settings import read_fleet
from haproxy_native.features.fleet.etcd import EtcdStore
from haproxy_native.features.fleet.sealing import Keyring, new_secret
from tests.app.authority import Authority
from tests.app.client import settings
from tests.haproxy.etcd import EtcdMember
from tests.haproxy.process import free_port

PLACE = "/dataplaneapi/edge/head"


def test_without_a_fleet_there_is_nothing_to_say(tmp_path: Path) -> None:
    assert list(findings(settings(tmp_path))) == []


def test_wrong_settings_are_a_finding(tmp_path: Path) -> None:
    [found] = findings(replace(settings(tmp_path), fleet={"group": "edge"}))
    assert found.level == ERROR and "endpoints must be a list" in found.what


def test_beside_a_store(tmp_path: Path) -> None:
    """In turn: no group; a group of ours; one of another key; a second endpoint that is away; nothing that answers."""
    (key := tmp_path / "fleet.key").write_text(new_secret())
    key.chmod(0o640)
    with EtcdMember(tmp_path) as etcd:
        given = {"group": "edge", "node": "lb1", "endpoints": [etcd.url], "keys": [str(key)]}
        fleet = read_fleet(given, "")
        assert fleet

        def found(**more: object) -> list[tuple[str, str]]:
            return [(each.level, each.what) for each in findings(replace(settings(tmp_path), fleet={**given, **more}))]

        async def write() -> None:
            store = EtcdStore(fleet.etcd)
            await store.replace(PLACE, Keyring("edge", fleet.secrets).encrypt(PLACE, b"{}"))
            await store.close()

        assert found() == [(NOTE, "the store answers, and has no group edge")]
        asyncio.run(write())
        assert found() == [(OK, "the store answers, and the keys of this node decrypt the group edge")]
        away = f"http://127.0.0.1:{free_port()}"
        [(level, what), (other, _)] = found(endpoints=[away, etcd.url])
        assert (level, other) == (WARNING, OK) and away in what
        key.write_text(new_secret())
        [(level, what)] = found()
        assert level == ERROR and "is sealed with the key" in what
    [(level, what)] = found()
    assert level == ERROR and f"etcd {etcd.url} does not answer" in what


def test_certificates_that_end_soon_or_have_ended(tmp_path: Path) -> None:
    """Those of the test's authority last a day."""
    (key := tmp_path / "fleet.key").write_text(new_secret())
    key.chmod(0o640)
    authority = Authority(tmp_path)
    (certificate, its_key), missing = authority.issue("plain", expired=True), tmp_path / "none.pem"
    given = {"group": "edge", "node": "lb1", "endpoints": [f"https://127.0.0.1:{free_port()}"], "keys": [str(key)]}

    def found(ca_file: Path) -> list[tuple[str, str]]:
        etcd = {"ca_file": str(ca_file), "certificate": str(certificate), "key": str(its_key)}
        return [(each.level, each.what) for each in findings(replace(settings(tmp_path), fleet={**given, **etcd}))]

    [(level, what), (other, of_client), _] = found(authority.file)
    assert (level, other) == (WARNING, ERROR)
    assert what.startswith(f"fleet.ca_file: {authority.file} ends on 2") and of_client.startswith(
        f"fleet.certificate: {certificate} ended on 2"
    )
    assert "none.pem cannot be read" in found(missing)[0][1]
