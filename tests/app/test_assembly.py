"""Assemble the application from its parts."""

import asyncio
import dataclasses
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

from dataplaneapi.assembly import create_app, open_application
from tests.app.client import CONFIG, Client, settings


def test_times_are_written_as_the_settings_ask(client: Client) -> None:
    client.app = create_app(dataclasses.replace(client.settings, time_suffix="ms"), client.engine)
    assert client.post(f"{CONFIG}/backends?version=1", {"name": "b", "server_timeout": 5000}).status == 202
    assert "timeout server 5000ms" in client.file.read_text()


def test_the_userlist_of_callers_is_for_admins(client: Client) -> None:
    """Also if the userlist is in a file, which may be a file of HAProxy's configuration."""
    given = dataclasses.replace(client.settings, users=[], userlist="own", role_of={"users": {"ann": "admin"}})
    client.file.write_text(client.file.read_text() + "\nuserlist own\n  user ann password x\n")
    for file in ("", str(client.file)):
        roles = create_app(dataclasses.replace(given, userlist_file=file), client.engine).services.roles
        assert roles and roles.rights("users", "ann").userlist == "userlist/own"


def test_logs_and_traces_end_while_the_event_loop_goes_on(tmp_path: Path) -> None:
    """Closing either may wait for a collector."""
    ended: list[bool] = []
    (tmp_path / "haproxy.cfg").write_text("global\n")

    async def run() -> None:
        loop = asyncio.get_running_loop()

        def close() -> None:
            going_on = threading.Event()
            loop.call_soon_threadsafe(going_on.set)
            ended.append(going_on.wait(10))

        async with open_application(settings(tmp_path)) as app:
            app.services.audit.close = close  # type: ignore[method-assign]
            app.services.traces = SimpleNamespace(close=close)  # type: ignore[assignment]

    asyncio.run(run())
    assert ended == [True, True]


READ = """
import sys, tempfile
from pathlib import Path
from tests.app.client import CONFIG, Client, settings
with tempfile.TemporaryDirectory() as directory, Client(settings(Path(directory))) as client:
    started = set(sys.modules)
    print({name for name in started if name.startswith("haproxy_native.models.")})
    assert client.get(f"{CONFIG}/backends").status == 200
    assert client.get("/v3/nowhere").status == 404
    assert client.get("/v3/docs").status == 200
    print(sorted(set(sys.modules) - started))
    assert client.post(f"{CONFIG}/backends?version=1", {"name": "b"}).status == 202
    print({name.partition(".")[0] for name in set(sys.modules) - started} <= {"haproxy_native", "pydantic"})
    print({name for name in set(sys.modules) - started if name.startswith("haproxy_native") and ".models." not in name})
    print("cryptography" in sys.modules)
"""


def test_requests_import_nothing_but_the_models_of_their_bodies() -> None:
    run = subprocess.run([sys.executable, "-c", READ], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    assert run.stdout.splitlines() == ["set()", "[]", "True", "set()", "False"]
