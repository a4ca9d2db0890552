"""Commands of the debug socket, on a real one."""

import asyncio
import os
import socket
import stat
from pathlib import Path

import pytest

from dataplaneapi.server.debug_socket import HELP, Commands, serve_commands
from dataplaneapi.settings.table import SettingsError
from tests.app.client import CONFIG, CONFIGURATION, Client


async def asked(path: Path, line: bytes) -> str:
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(line)
    answer = await asyncio.wait_for(reader.read(), 60)
    writer.close()
    return answer.decode()


def ask(client: Client, path: Path, line: bytes) -> str:
    async def story() -> str:
        async with serve_commands(str(path), Commands(client.engine, lambda: client.settings)):
            assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
            return await asked(path, line)

    return client.runner.run(story())


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"help\n", HELP),
        (b"help conf\n", HELP),
        (b"\n", HELP),
        (b"_engine\n", HELP),
        (b"answer conf\n", HELP),
        (b"version too many\n", HELP),
        (b"conf\n", CONFIGURATION),
        (b"conf raw 0\n", CONFIGURATION),
        (b"conf raw x\n", HELP),
        (b"conf structured\n", "structured not implemented in community edition\n"),
        (b"x" * 3000 + b"\n", ""),
    ],
)
def test_commands(shared_client: Client, tmp_path: Path, line: bytes, says: str) -> None:
    assert ask(shared_client, tmp_path / "debug.sock", line) == says


def test_what_a_transaction_holds_and_what_is_not_there(client: Client, tmp_path: Path) -> None:
    transaction = client.post("/v3/services/haproxy/transactions?version=1").json["id"]
    client.post(f"{CONFIG}/backends?transaction_id={transaction}", {"name": "new"})
    path = tmp_path / "debug.sock"
    assert "backend new\n" in ask(client, path, f"conf raw 1 {transaction}\n".encode())
    assert "none" in ask(client, path, b"conf raw 1 none\n")
    assert ask(client, path, b"version\n").startswith("v3.")


def test_settings_without_passwords(client: Client, tmp_path: Path) -> None:
    said = ask(client, tmp_path / "debug.sock", b"dapiconf\n")
    assert f"haproxy.config_file: {client.file}\n" in said
    assert "adminpwd" not in said


def test_what_stands_at_its_place(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "debug.sock"
    assert ask(client, path, b"version\n") == ask(client, path, b"version\n")
    assert not path.exists()
    path.write_text("precious")
    with pytest.raises(SettingsError, match="in use"):
        ask(client, path, b"version\n")
    assert path.read_text() == "precious"
    path.unlink()
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        other.listen()
        with pytest.raises(SettingsError, match="in use"):
            ask(client, path, b"version\n")
        assert path.exists()
    assert "3" in ask(client, path, b"version\n")
