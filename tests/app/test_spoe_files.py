"""Use the SPOE files that settings name."""

from pathlib import Path

from tests.app.client import serving
from tests.app.spoe import FILE, FILES, furnish
from tests.native.engines import UNKNOWN


def test_directories_are_those_of_the_settings(tmp_path: Path) -> None:
    furnish(tmp_path)
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / f"f.cfg.{UNKNOWN}").write_text("# _version=3\n[one]\n")
    with serving(tmp_path, spoe_transaction_dir=str(tmp_path / "open")) as client:
        assert [each["id"] for each in client.get(f"{FILE}/transactions").json] == [UNKNOWN]
        assert client.delete(f"{FILE}/transactions/{UNKNOWN}").status == 204
    assert not list((tmp_path / "open").iterdir())
    (tmp_path / "elsewhere").mkdir()
    with serving(tmp_path, spoe_dir=str(tmp_path / "elsewhere")) as client:
        assert client.get(FILES).json == []


def test_a_relative_path_in_the_configuration_counts(tmp_path: Path) -> None:
    furnish(tmp_path)
    (tmp_path / "haproxy.cfg").write_text("frontend f\n  bind 127.0.0.1:1\n  filter spoe engine one config spoe/f.cfg\n")
    with serving(tmp_path) as client:
        assert client.delete(FILE).status == 409


def test_times_are_bare_whatever_the_settings_say(tmp_path: Path) -> None:
    path = furnish(tmp_path)
    with serving(tmp_path, time_suffix="ms") as client:
        body = {"name": "a2", "processing_timeout": 2000}
        assert client.post(f"{FILE}/scopes/%5Bone%5D/agents?version=3", body).status == 201
    assert "timeout processing 2000\n" in path.read_text()
