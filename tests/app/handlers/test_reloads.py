"""What became of reloads."""

from pathlib import Path

import pytest

from tests.app.client import CONFIG, Client, serving

RELOADS = "/v3/services/haproxy/reloads"


def write(client: Client) -> str:
    return client.post(f"{CONFIG}/backends?version=1", {"name": "be1"}).headers["Reload-Id"]


def test_a_scheduled_one(client: Client) -> None:
    assert client.get(RELOADS).json == []
    id_ = write(client)
    assert client.get(RELOADS).json == [{"id": id_, "status": "in_progress"}]
    assert client.get(f"{RELOADS}/{id_}").json == {"id": id_, "status": "in_progress"}


@pytest.mark.parametrize(("command", "status"), [("true", "succeeded"), ("false", "failed")])
def test_one_that_is_done(tmp_path: Path, command: str, status: str) -> None:
    with serving(tmp_path, reload_cmd=command) as client:
        id_ = write(client)
        client.runner.run(client.engine.reloads.close())
        shown = client.get(f"{RELOADS}/{id_}").json
        assert (shown["id"], shown["status"], shown["reload_timestamp"] > 0) == (id_, status, True)


@pytest.mark.parametrize("id_", ["2020-01-01-0", "2999-01-01-99"])
def test_an_id_that_was_never_given_out(client: Client, id_: str) -> None:
    got = client.get(f"{RELOADS}/{id_}")
    assert (got.status, got.message) == (404, f"Reload with ID {id_} does not exist")


def test_what_is_no_id(client: Client) -> None:
    got = client.get(f"{RELOADS}/foo")
    assert (got.status, got.message) == (400, 'id in path: string doesn\'t match the regular expression "^\\d{4}-\\d{2}-\\d{2}-\\d+$"')
