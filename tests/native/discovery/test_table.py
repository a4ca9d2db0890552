"""What is remembered of a definition, also after a restart."""

from pathlib import Path

from haproxy_native.access.initiator import Initiator
from haproxy_native.discovery.definitions import DiscoveryTable
from haproxy_native.disk.database import Database

ANN = Initiator("ann", group="users")


def test_stored_and_forgotten(tmp_path: Path) -> None:
    database = Database(tmp_path)
    table = DiscoveryTable(database)
    table.set_creator("1", ANN)
    table.set_creator("2", Initiator())
    table.set_backends("1", {"c-web", "c-api"})
    again = DiscoveryTable(database)
    assert [again.creator(id_) for id_ in "123"] == [ANN, Initiator(), Initiator()]
    assert again.backends("1") == ["c-api", "c-web"] and again.backends("2") == []
    again.set_backends("1", ())
    assert DiscoveryTable(database).creator("1") == ANN
    again.forget("1")
    assert DiscoveryTable(database).creator("1") == Initiator()
    database.close()


def test_a_disk_that_takes_nothing(tmp_path: Path) -> None:
    (tmp_path / "engine").write_text("")
    database = Database(tmp_path / "engine")
    table = DiscoveryTable(database)
    table.set_creator("1", ANN)
    assert table.creator("1") == ANN
    database.close()
