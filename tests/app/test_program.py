"""Run the server process as an operator does: start it, call it, send signals, and stop it."""

import asyncio
import dataclasses
import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
from base64 import b64encode
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import IO, Any

import pytest
import uvloop

from dataplaneapi import program
from dataplaneapi.api.application import Application
from dataplaneapi.assembly import open_application
from dataplaneapi.settings.table import Settings
from haproxy_native.disk.database import STATE
from tests.app.authority import Authority
from tests.app.client import CONFIGURATION, settings
from tests.app.handover import start
from tests.databases import connected
from tests.haproxy.forked import Forked, nursery
from tests.haproxy.process import free_port
from tests.until import until

START_SECONDS = 60


class Server:
    """A server with its own directory, on a port that it chooses, forked by default. Its log is read line by line."""

    process: subprocess.Popen[str] | Forked
    output: IO[str]

    def __init__(self, directory: Path, **changed: Any) -> None:
        self.directory = directory
        self.config, self.settings = directory / "haproxy.cfg", directory / "dataplaneapi.yaml"
        if not self.config.exists():
            self.config.write_text(CONFIGURATION)
        self.write(**changed)

    def fork(self, *flags: str) -> None:
        """Start a server that has imported its modules already; what it logs comes through a pipe with a name."""
        pipe = self.directory / "output"
        os.mkfifo(pipe)
        self.process = nursery().start(["-f", str(self.settings), *flags], pipe)
        self.output = pipe.open()

    def execute(self, *flags: str, sockets: Sequence[socket.socket] = (), environment: Mapping[str, str] | None = None) -> None:
        """Start the command itself, as a service manager would if it gets sockets."""
        command = [sys.executable, "-m", "dataplaneapi.cli", "-f", str(self.settings), *flags]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        process = start(command, sockets, {**os.environ, **(environment or {})}, **pipes)
        assert process.stdout is not None
        self.process, self.output = process, process.stdout

    def write(self, **changed: Any) -> None:
        places = {"dataplane_storage_dir": str(self.directory / "storage")}
        api = {"host": "127.0.0.1", "transaction": {"transaction_dir": str(self.directory / "transactions")}, "resources": places}
        user = {"name": "admin", "password": "adminpwd", "insecure": True}
        data = {
            "dataplaneapi": api | {"user": [user], **changed},
            "haproxy": {"config_file": str(self.config), "reload": {"reload_cmd": "true", "validate_cmd": "true"}},
            "log_targets": [{"log_to": "stdout", "log_level": "info", "log_types": ["app", "access"]}],
        }
        self.settings.write_text(json.dumps(data))

    def until(self, text: str) -> str:
        """The first log line that holds a text."""
        seen = []
        for line in self.output:
            seen.append(line)
            if text in line:
                return line
        raise AssertionError("".join(seen))

    @property
    def port(self) -> int:
        return int(self.until("Serving data plane at http://").rpartition(":")[2].rstrip('"\n'))

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(START_SECONDS)


@contextmanager
def running(directory: Path, *flags: str, **changed: Any) -> Iterator[Server]:
    server = Server(directory, **changed)
    server.fork(*flags)
    with ending(server):
        yield server


@contextmanager
def executing(directory: Path, *flags: str, **more: Any) -> Iterator[Server]:
    server = Server(directory)
    server.execute(*flags, **more)
    with ending(server):
        yield server


@contextmanager
def ending(server: Server) -> Iterator[None]:
    try:
        yield
    finally:
        server.process.kill()
        server.process.wait()
        server.output.close()


def ask(port: int, target: str, auth: str = "admin:adminpwd", method: str = "GET", body: str | None = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=START_SECONDS)
    try:
        headers = {"Authorization": "Basic " + b64encode(auth.encode()).decode(), "Content-Type": "application/json"}
        connection.request(method, target, body, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or b"null")
    finally:
        connection.close()


VERSION = "/v3/services/haproxy/configuration/version"
BACKENDS = "/v3/services/haproxy/configuration/backends"


def test_it_serves_and_stops(tmp_path: Path) -> None:
    with executing(tmp_path) as server:
        assert "Reload strategy: custom" in server.until("Reload strategy")
        port = server.port
        assert ask(port, VERSION) == (200, 1)
        assert ask(port, f"{BACKENDS}?version=1", method="POST", body='{"name": "be1"}') == (202, {"from": "base", "name": "be1"})
        assert server.stop() == 0
        assert "backend be1" in server.config.read_text()


def test_what_haproxy_does_not_take_is_told_and_served(tmp_path: Path) -> None:
    with running(tmp_path, "--validate-cmd", "sh -c 'echo [ALERT] no such keyword >&2; exit 1'") as server:
        port = server.port
        said = server.until("changes are refused until it is fixed")
        assert f"rejects {server.config}, and changes are refused until it is fixed: validation error" in said
        assert "no such keyword" in said
        assert ask(port, VERSION) == (200, 1)
        assert ask(port, f"{BACKENDS}?version=1", method="POST", body='{"name": "be1"}')[0] == 400


def test_header_names_keep_their_spelling_on_the_wire(tmp_path: Path) -> None:
    with running(tmp_path) as server, socket.create_connection(("127.0.0.1", server.port), START_SECONDS) as connection:
        credentials = b64encode(b"admin:adminpwd")
        head = f"POST {BACKENDS}?version=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
        head += "Content-Type: application/json\r\nContent-Length: 15\r\n"
        connection.sendall(head.encode() + b"Authorization: Basic " + credentials + b'\r\n\r\n{"name": "be1"}')
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    assert b"\r\nReload-Id: 2" in answer
    assert b"\r\nConfiguration-Version: 2\r\n" in answer


def test_what_is_pending_is_reloaded_before_it_stops(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        ask(server.port, f"{BACKENDS}?version=1", method="POST", body='{"name": "be1"}')
        server.process.send_signal(signal.SIGTERM)
        assert "HAProxy runs version 2" in server.until("HAProxy runs version")
        assert server.process.wait(START_SECONDS) == 0


def test_hangup_takes_over_users_and_tells_what_it_cannot(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        port = server.port
        users = [{"name": "other", "password": "pw", "insecure": True}]
        server.write(user=users, keep_alive="7m", pid_file=str(tmp_path / "pid"), gid=77)
        server.process.send_signal(signal.SIGHUP)
        assert server.until("only after a restart").endswith(': gid"\n')
        server.until("Reread")
        assert ask(port, VERSION)[0] == 401
        assert ask(port, VERSION, "other:pw") == (200, 1)
        assert (tmp_path / "pid").read_text() == str(server.process.pid)


def test_hangup_takes_over_what_belongs_to_the_engine(tmp_path: Path) -> None:
    """No client is refused during this, and open transactions and the pending reload stay. Invalid settings change nothing."""
    with running(tmp_path) as server:
        port, transactions = server.port, "/v3/services/haproxy/transactions"
        assert ask(port, f"{BACKENDS}?version=1", method="POST", body='{"name": "be1"}')[0] == 202
        status, opened = ask(port, f"{transactions}?version=2", method="POST")
        assert status == 201
        for limit, said in ((1, "Reread"), (0, "Cannot read")):
            server.write(transaction={"transaction_dir": str(tmp_path / "transactions"), "max_open_transactions": limit})
            if not limit:
                settings = json.loads(server.settings.read_text())
                settings["haproxy"]["config_file"] = str(tmp_path / "none.cfg")
                server.settings.write_text(json.dumps(settings))
            server.process.send_signal(signal.SIGHUP)
            with ThreadPoolExecutor(4) as clients:
                answers = list(clients.map(lambda _: ask(port, VERSION), range(40)))
            assert answers == [(200, 2)] * 40
            server.until(said)
            assert ask(port, f"{transactions}?version=2", method="POST")[0] == 429
            assert ask(port, transactions)[1] == [opened]
        assert ask(port, "/v3/services/haproxy/reloads")[1][0]["status"] == "succeeded"


def test_hangup_takes_over_what_becomes_of_old_versions_and_idle_transactions(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        port, transactions = server.port, "/v3/services/haproxy/transactions"
        status, opened = ask(port, f"{transactions}?version=1", method="POST")
        assert status == 201
        assert ask(port, f"{BACKENDS}?version=1", method="POST", body='{"name": "be1"}')[0] == 202
        assert ask(port, f"{BACKENDS}?version=1", method="POST", body='{"name": "be2"}')[0] == 409
        with connected(tmp_path / "storage/engine/state" / STATE) as database:
            database.execute("UPDATE open_transaction SET used = 0")
        server.write(on_conflict="merge", transaction={"transaction_dir": str(tmp_path / "transactions"), "transaction_ttl": "1h"})
        server.process.send_signal(signal.SIGHUP)
        server.until("Reread")
        assert ask(port, f"{BACKENDS}?version=1", method="POST", body='{"name": "be2"}')[0] == 202
        status, refused = ask(port, f"{transactions}/{opened['id']}", method="PUT")
        assert (status, "(transaction_ttl)" in refused["message"]) == (404, True)


def test_a_hangup_with_bad_settings_changes_nothing(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        port = server.port
        server.settings.write_text("dataplaneapi: [\n")
        server.process.send_signal(signal.SIGHUP)
        server.until("only yaml format is supported")
        assert ask(port, VERSION) == (200, 1)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, "{directory}/storage/cluster.json is not valid"),
        ({"debug_socket_path": "other"}, "{directory}/storage/cluster.json is not valid"),
        ({"debug_socket_path": "wrong"}, "cannot listen on {directory}/wrong"),
    ],
)
def test_a_hangup_that_fails_leaves_all_as_it_is(tmp_path: Path, changed: dict[str, str], said: str) -> None:
    """The users or the settings of the engine are wrong. The engine would stay, or would be replaced."""
    with running(tmp_path) as server:
        port = server.port
        wrong = tmp_path / ("wrong" if said.endswith("wrong") else "storage/cluster.json")
        wrong.write_text("{not json")
        server.write(pid_file=str(tmp_path / "new.pid"), **{name: str(tmp_path / value) for name, value in changed.items()})
        settings = json.loads(server.settings.read_text())
        targets = [{"log_to": "file", "log_file": str(tmp_path / "new.log"), "log_types": ["app"]}]
        server.settings.write_text(json.dumps({**settings, "log_targets": targets}))
        server.process.send_signal(signal.SIGHUP)
        server.until(f'msg="{said.format(directory=tmp_path)}')
        wrong.unlink()
        server.write()
        server.process.send_signal(signal.SIGHUP)
        server.until("Reread")
        assert ask(port, VERSION) == (200, 1)
        assert not (tmp_path / "new.pid").exists() and not (tmp_path / "new.log").exists()


def test_a_hangup_without_a_configuration_takes_over_nothing(tmp_path: Path) -> None:
    """The next SIGHUP takes over the changes."""
    with running(tmp_path) as server:
        port = server.port
        server.write(user=[{"name": "other", "password": "pw", "insecure": True}], pid_file=str(tmp_path / "pid"))
        server.config.rename(tmp_path / "aside")
        server.process.send_signal(signal.SIGHUP)
        server.until("Cannot read")
        assert ask(port, VERSION) == (200, 1)
        (tmp_path / "aside").rename(server.config)
        server.process.send_signal(signal.SIGHUP)
        server.until("Reread")
        assert ask(port, VERSION, "other:pw") == (200, 1)
        assert (tmp_path / "pid").read_text() == str(server.process.pid)


def test_a_pid_file_that_could_not_be_written_is_written_at_the_next_hangup(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        assert server.port
        server.write(pid_file=str(tmp_path / "run/pid"))
        server.process.send_signal(signal.SIGHUP)
        server.until("run/pid cannot be written")
        (tmp_path / "run").mkdir()
        server.process.send_signal(signal.SIGHUP)
        server.until("Reread")
        assert (tmp_path / "run/pid").read_text() == str(server.process.pid)


def test_a_hangup_without_a_certificate_leaves_the_users(tmp_path: Path) -> None:
    certificate, key = Authority(tmp_path).issue("server")
    tls = {"tls_port": free_port(), "tls_certificate": str(certificate), "tls_key": str(key)}
    with running(tmp_path, scheme=["http", "https"], tls=tls) as server:
        port = server.port
        server.until("Serving data plane at https://")
        server.write(scheme=["http", "https"], tls=tls, user=[{"name": "other", "password": "pw", "insecure": True}])
        certificate.write_text("no certificate")
        server.process.send_signal(signal.SIGHUP)
        server.until(str(certificate))
        assert ask(port, VERSION) == (200, 1)
        assert ask(port, VERSION, "other:pw")[0] == 401


def test_an_application_that_fails_to_end_is_followed_by_the_former_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    former = settings(tmp_path, host="127.0.0.1", port=port)
    Path(former.config_file).write_text(CONFIGURATION)
    failures = [RuntimeError("broken")]

    def is_listening() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    @asynccontextmanager
    async def failing(given: Settings) -> AsyncIterator[Application]:
        async with open_application(given) as app:
            yield app
        if failures:
            raise failures.pop()

    async def serve() -> tuple[int, Any]:
        server = program.Program(former, lambda: dataclasses.replace(former, reload_delay=former.reload_delay + 1))
        run = asyncio.ensure_future(server.run())
        await asyncio.to_thread(until, is_listening)
        assert await asyncio.to_thread(ask, port, VERSION) == (200, 1)
        with pytest.raises(RuntimeError, match="broken"):
            await server.restart()
        try:
            return await asyncio.to_thread(ask, port, VERSION)
        finally:
            run.cancel()

    monkeypatch.setattr(program, "open_application", failing)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(serve()) == (200, 1)


@pytest.mark.parametrize(("name", "said"), [("SIGUSR1", "Reloaded Data Plane API"), ("SIGUSR2", "Rereading Configuration Files")])
def test_user_signals(tmp_path: Path, name: str, said: str) -> None:
    with running(tmp_path, "--disable-inotify") as server:
        port = server.port
        server.config.write_text(CONFIGURATION + "\nbackend by_hand\n")
        server.process.send_signal(getattr(signal, name))
        server.until(said)
        found = [each["name"] for each in ask(port, BACKENDS)[1]]
        assert ("by_hand" in found) == (name == "SIGUSR2")
        assert ask(port, VERSION) == (200, 1)


def test_a_unix_socket_beside_http(tmp_path: Path) -> None:
    path = str(tmp_path / "api.sock")
    with running(tmp_path, scheme=["http", "unix"], socket_path=path) as server:
        assert ask(server.port, VERSION) == (200, 1)
        server.until(f"Serving data plane at unix://{path}")
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(path)
            connection.sendall(b"GET /v3/docs HTTP/1.1\r\nHost: x\r\n\r\n")
            assert connection.recv(100).startswith(b"HTTP/1.1 200 OK")
        assert server.stop() == 0
        assert not os.path.exists(path)


def test_client_certificates(tmp_path: Path) -> None:
    """A SPIFFE identity replaces the password only if client certificates are enabled. New certificates and lists keep connections open."""
    authority = Authority(tmp_path)
    certificate, key = authority.issue("server")
    spiffe, tls_port = "spiffe://example.org/ns/lb/sa/controller", free_port()
    client = ssl.create_default_context(cafile=str(authority.file))
    bare = ssl.create_default_context(cafile=str(authority.file))
    client.load_cert_chain(*authority.issue("client", uri=spiffe))
    tls = {"tls_port": tls_port, "tls_certificate": str(certificate), "tls_key": str(key), "tls_ca": str(authority.file)}
    with running(tmp_path, scheme=["http", "https"], tls=tls) as server:
        port = server.port
        server.until(f"Serving data plane at https://127.0.0.1:{tls_port}")
        assert ask(port, VERSION, auth="")[0] == 401
        with pytest.raises(OSError):
            get(tls_port, bare)
        with kept(tls_port, client) as connection:
            before = serial(connection)
            assert read(connection) == (200, b"1\n")
            authority.issue("server")
            with kept(tls_port, client) as another:
                assert read(another) == (200, b"1\n")
                assert serial(another) != before
            server.write(scheme=["http", "https"], tls=tls | {"tls_client_names": ["spiffe://example.org/ns/web/*"]})
            server.process.send_signal(signal.SIGHUP)
            server.until("Reread")
            assert read(connection) == (200, b"1\n"), "who was let in stays"
            status, body = get(tls_port, client)
            assert (status, json.loads(body)["message"]) == (403, f"client certificate '{spiffe}' is not among tls_client_names")
            assert spiffe in server.until("is not among tls_client_names")
            assert f'client="{spiffe}"' in server.until("/configuration/version")


def test_a_document_names_the_scheme_that_it_was_fetched_by(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    certificate, key = authority.issue("server")
    tls_port, client = free_port(), ssl.create_default_context(cafile=str(authority.file))
    tls = {"tls_port": tls_port, "tls_certificate": str(certificate), "tls_key": str(key)}
    with running(tmp_path, scheme=["http", "https"], tls=tls) as server:
        port = server.port
        server.until(f"Serving data plane at https://127.0.0.1:{tls_port}")
        with kept(tls_port, client) as connection:
            for path in ("/swagger.json", "/v3/specification"):
                connection.request("GET", path, headers={"Authorization": "Basic " + b64encode(b"admin:adminpwd").decode()})
                assert json.loads(connection.getresponse().read())["schemes"] == ["https"]
        assert ask(port, "/v3/specification")[1]["schemes"] == ["http"]


@contextmanager
def kept(port: int, client: ssl.SSLContext) -> Iterator[http.client.HTTPSConnection]:
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=START_SECONDS, context=client)
    try:
        connection.connect()
        yield connection
    finally:
        connection.close()


def read(connection: http.client.HTTPSConnection) -> tuple[int, bytes]:
    connection.request("GET", VERSION)
    answer = connection.getresponse()
    return answer.status, answer.read()


def get(port: int, client: ssl.SSLContext) -> tuple[int, bytes]:
    with kept(port, client) as connection:
        return read(connection)


def serial(connection: http.client.HTTPSConnection) -> str:
    certificate = connection.sock.getpeercert()
    return str(certificate["serialNumber"])


def test_under_a_service_manager(tmp_path: Path) -> None:
    """The server uses the manager's sockets without closing them, hides its variables from children, and reports each state to it."""
    path, notify = str(tmp_path / "api.sock"), str(tmp_path / "notify")
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as unix, manager_at(notify) as heard:
        unix.bind(path)
        unix.listen()
        environment = {"NOTIFY_SOCKET": notify, "WATCHDOG_USEC": "60000000"}
        flags = ["--port", "1", "--validate-cmd", f"sh -c 'env > {tmp_path}/child'"]
        with executing(tmp_path, *flags, sockets=[tcp, unix], environment=environment) as server:
            server.until("not listening on http://127.0.0.1:1")
            port = server.port
            assert port == tcp.getsockname()[1]
            serving = heard.recv(4096).decode()
            assert serving == f"READY=1\nSTATUS=Serving at http://127.0.0.1:{port}, unix://{path}"
            assert ask(port, VERSION) == (200, 1)
            assert heard.recv(4096) == b"WATCHDOG=1"
            assert ask(port, f"{BACKENDS}?version=1", method="POST", body='{"name": "be1"}')[0] == 202
            assert not {"NOTIFY_SOCKET", "WATCHDOG_USEC", "LISTEN_FDS"} & set(
                re.findall("^[^=]*", (tmp_path / "child").read_text(), re.MULTILINE)
            )
            server.process.send_signal(signal.SIGHUP)
            assert heard.recv(4096).startswith(b"RELOADING=1\nMONOTONIC_USEC=")
            assert heard.recv(4096).decode() == serving
            assert server.stop() == 0
            assert heard.recv(4096).startswith(b"STOPPING=1\n")
        with socket.socket(socket.AF_UNIX) as waiting:
            waiting.connect(path)


@contextmanager
def manager_at(path: str) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(path)
        heard.settimeout(START_SECONDS)
        yield heard


def test_the_pid_file_and_the_settings_file(tmp_path: Path) -> None:
    with running(tmp_path, pid_file=str(tmp_path / "pid")) as server:
        assert ask(server.port, VERSION) == (200, 1)
        assert (tmp_path / "pid").read_text() == str(server.process.pid)
        assert "config_version" in server.settings.read_text()


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--reload-strategy", "magic"], "invalid reload strategy: 'magic'"),
        (["-c", "/no/such/haproxy.cfg"], "failed to read configuration: Cannot read /no/such/haproxy.cfg"),
        (["--userlist-file", "/no/such/file"], ""),
        (["--scheme", "https"], "the required flags `--tls-certificate` and `--tls-key` were not specified"),
    ],
)
def test_what_ends_a_start(tmp_path: Path, flags: list[str], said: str) -> None:
    changed = {"user": []} if not said else {}
    with running(tmp_path, *flags, **changed) as server:
        server.until(said or "cannot read /no/such/file, file does not exist")
        assert server.process.wait(START_SECONDS) == 1
