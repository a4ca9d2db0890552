"""The parts fit together."""

import subprocess
import sys
from pathlib import Path

from dataplaneapi.assembly import create_app
from tests.app.client import CONFIG, Client


def test_times_are_written_as_the_settings_ask(client: Client) -> None:
    import dataclasses

    client.app = create_app(dataclasses.replace(client.settings, time_suffix="ms"), client.engine)
    assert client.post(f"{CONFIG}/backends?version=1", {"name": "b", "server_timeout": 5000}).status == 202
    assert "timeout server 5000ms" in client.file.read_text()


READ = """
import sys, tempfile
from pathlib import Path
from tests.app.client import CONFIG, Client, settings
with tempfile.TemporaryDirectory() as directory, Client(settings(Path(directory))) as client:
    assert client.get(f"{CONFIG}/backends").status == 200
    print({"fastapi", "pydantic", "cryptography"} & set(sys.modules))
    assert client.post(f"{CONFIG}/backends?version=1", {"name": "b"}).status == 202
    print({"fastapi", "pydantic", "cryptography"} & set(sys.modules) == {"fastapi", "pydantic"})
"""


def test_the_start_and_reads_import_nothing_that_is_slow_to_import() -> None:
    run = subprocess.run([sys.executable, "-c", READ], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    assert run.stdout.splitlines() == ["set()", "True"]
