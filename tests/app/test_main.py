"""The parts fit together."""

import pytest

from app.main import create_app
from app.routes import MissingHandler
from native.grammar import load
from tests.app.client import CONFIG, Client


def test_times_are_written_as_the_settings_ask(client: Client) -> None:
    import dataclasses

    client.app = create_app(dataclasses.replace(client.settings, time_suffix="ms"), client.engine)
    assert client.post(f"{CONFIG}/backends?version=1", {"name": "b", "server_timeout": 5000}).status == 202
    assert "timeout server 5000ms" in client.file.read_text()


def test_it_refuses_to_start_without_a_handler(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    document = load.bundle()
    more = {**document, "paths": {**document["paths"], "/new": {"get": {"operationId": "new", "x-operation": {"handler": "nowhere.read"}}}}}
    monkeypatch.setattr("app.main.bundle", lambda: more)
    with pytest.raises(MissingHandler, match="GET /new"):
        create_app(client.settings, client.engine)
