"""The command as a whole: its start, its statuses, its ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dataplaneapi.ctl import main
from tests.app.ctl.calls import Ctl
from tests.haproxy.process import free_port
from tests.haproxy.sidecar import COMMAND

HEAVY = ("asyncio", "fastapi", "pydantic", "starlette", "uvicorn", "ruamel", "yaml", "httpx2", "haproxy_native", "dataclasses", "inspect")
LISTING = (
    "import sys; sys.argv[1:] = {words}\ntry:\n    from dataplaneapi.command import main; main()\nfinally:\n    print(*sorted(sys.modules))"
)


def modules(words: list[str], environment: dict[str, str]) -> set[str]:
    """Those that a call imports."""
    program = LISTING.format(words=["ctl", *words])
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("words", [["get", "backend"], ["get", "backend/shop", "-o", "json"], ["get", "backend/shop", "-o", "cfg"]])
def test_nothing_heavy_is_imported(ctl: Ctl, words: list[str]) -> None:
    found = modules(words, dict(ctl.environment))
    assert "http.client" in found and "dataplaneapi.ctl.commands.get" in found
    assert [name for name in HEAVY if name in found] == []
    assert {name for name in found if name.startswith("dataplaneapi.")} - {"dataplaneapi.command"} == {
        name for name in found if name.startswith("dataplaneapi.ctl")
    }


def test_a_context_of_the_usual_form_needs_no_library(ctl: Ctl, tmp_path: Path) -> None:
    file = tmp_path / "ctl.yaml"
    file.write_text(
        f"current: test\ncontexts:\n  test:\n    url: {ctl.environment['DATAPLANECTL_URL']}\n    user: admin\n    password: adminpwd\n"
    )
    file.chmod(0o600)
    environment = {name: value for name, value in ctl.environment.items() if not name.startswith("DATAPLANECTL_")}
    found = modules(["get", "backend"], environment | {"DATAPLANECTL_CONFIG": str(file)})
    assert [name for name in HEAVY if name in found] == []


def test_statuses(ctl: Ctl) -> None:
    assert "unknown command 'gte', did you mean get?" in ctl.refusal(2, "gte")
    assert "invalid choice: 'xml'" in ctl.refusal(2, "get", "backend", "-o", "xml")
    assert "not 'http://[::1/x' (Invalid IPv6 URL)" in ctl.refusal(2, "get", "backend", "--url", "http://[::1/x")
    assert "--post must be http" in ctl.refusal(2, "events", "--post", "http://[::1/x", "--cursor", "/none")
    assert "No closing quotation; set EDITOR to another one" in ctl.refusal(2, "edit", "backend/shop", EDITOR="'vi", VISUAL="")
    assert "unrecognized arguments: --nope" in ctl.refusal(2, "get", "backend", "--nope")
    assert (
        "401 unauthorized (GET " in (wrong := ctl.refusal(7, "get", "backend", DATAPLANECTL_PASSWORD="wrong"))
        and ", as user admin)" in wrong
    )
    assert "as nobody: no user, token or certificate is given" in ctl.refusal(7, "get", "backend", DATAPLANECTL_USER="")
    assert "Connection refused" in ctl.refusal(4, "get", "backend", DATAPLANECTL_URL=f"http://127.0.0.1:{free_port()}")


def test_helps(ctl: Ctl) -> None:
    shown = ctl.output("--help")
    assert all(f"\n  {name} " in shown for name in main.COMMANDS)
    for name in main.COMMANDS:
        shown = ctl.output(name, "--help")
        assert shown.startswith(f"usage: dataplaneapi ctl {name} ") and f"\nexample: dataplaneapi ctl {name}" in shown


def test_each_command_is_listed_once() -> None:
    listed = [name for names in main.GROUPS.values() for name in names]
    assert sorted(listed) == sorted(main.COMMANDS)


def test_options_stand_anywhere(ctl: Ctl) -> None:
    assert ctl.output("-o", "name", "get", "backend") == ctl.output("get", "-o", "name", "backend") == "backend/shop\n"


def test_a_pipe_that_is_closed_gets_no_traceback(ctl: Ctl) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    words = [str(COMMAND), "ctl", "get", "backend"]
    done = subprocess.run(words, env=dict(ctl.environment), stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


def test_an_output_that_takes_nothing_gets_no_traceback(ctl: Ctl) -> None:
    words = f"{COMMAND} ctl get backend"
    for to, status, said in (("/dev/full", 2, "dataplaneapi ctl: [Errno 28] No space left on device\n"), ("&-", 0, "")):
        done = subprocess.run(["sh", "-c", f"{words} >{to}"], env=dict(ctl.environment), capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (status, said)
