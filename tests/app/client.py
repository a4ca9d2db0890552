"""Call the whole application, with a real engine and a real file, without a network."""

import asyncio
import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote

from dataplaneapi.api.exchange import Exchange
from dataplaneapi.assembly import create_app
from dataplaneapi.open_engine import open_engine
from dataplaneapi.server.connection import EXCHANGE, UNKNOWN, Channel, Connection
from dataplaneapi.settings.table import Settings

CONFIGURATION = """\
global
  maxconn 1000

defaults base
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s

frontend web from base
  bind 127.0.0.1:8080 name main
  default_backend app

backend app from base
  acl local src 127.0.0.1
  server app1 127.0.0.1:8081
"""
CONFIG = "/v3/services/haproxy/configuration"


@dataclass
class Got:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def message(self) -> str:
        return str(self.json["message"])


def settings(directory: Path, **changed: Any) -> Settings:
    """Return settings with all files below one directory, without checks by HAProxy, and with a reload delay of an hour."""
    plain = Settings(
        config_file=str(directory / "haproxy.cfg"),
        maps_dir=str(directory / "maps"),
        general_storage_dir=str(directory / "general"),
        ssl_certs_dir=str(directory / "ssl"),
        dataplane_storage_dir=str(directory / "storage"),
        transaction_dir=str(directory / "transactions"),
        spoe_dir=str(directory / "spoe"),
        spoe_transaction_dir=str(directory / "spoe-transactions"),
        scheme=["http"],
        users=[{"name": "admin", "password": "adminpwd", "insecure": True}],
        validate_cmd="true",
        reload_cmd="true",
        reload_delay=3600,
        disable_inotify=True,
    )
    return replace(plain, **changed)


class Client:
    """Runs the application within `with Client(settings) as client:`. Writes the configuration file if it does not exist."""

    def __init__(self, given: Settings, configuration: str = CONFIGURATION) -> None:
        self.settings = given
        self.file = Path(given.config_file)
        self.connection = UNKNOWN
        if not self.file.exists():
            self.file.write_text(configuration)

    def __enter__(self) -> Self:
        self.runner = asyncio.Runner()
        self._engine = open_engine(self.settings)
        try:
            self.engine = self.runner.run(self._engine.__aenter__())
            self.app = create_app(self.settings, self.engine)
        except BaseException:
            self.runner.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        # Some parts of features start at their first use. One that has not been entered observes nothing.
        for part in [part for feature in self.app.services.features.values() for part in feature.runs]:
            with suppress(ValueError):
                self.runner.run(part.__aexit__(None, None, None))
        if self.app.services.history._journal:
            # A request has used the history, which starts at its first use.
            self.runner.run(self.app.services.history.__aexit__(None, None, None))
        self.runner.run(self._engine.__aexit__(kind, error, trace))
        self.runner.close()

    def __call__(
        self, method: str, target: str, body: Any = None, *, auth: str | None = "admin:adminpwd", headers: Mapping[str, str] = {}
    ) -> Got:
        """Send a request, and return the response. A body that is neither bytes nor None is sent as JSON."""
        sent = {name.lower().encode(): value.encode() for name, value in headers.items()}
        if auth is not None:
            sent.setdefault(b"authorization", b"Basic " + base64.b64encode(auth.encode()))
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            sent.setdefault(b"content-type", b"application/json")
        # `Runner.run` sets and resets a handler of SIGINT, which takes a quarter of the time of a small request.
        loop = self.runner.get_loop()
        return loop.run_until_complete(exchange(self.app, method, target, list(sent.items()), body or b"", self.connection))

    def __getattr__(self, name: str) -> Any:
        """`client.get(target)`, `client.post(target, body)`, ..."""
        return lambda target, body=None, **more: self(name.upper(), target, body, **more)


async def exchange(app: Any, method: str, target: str, headers: list[tuple[bytes, bytes]], body: bytes, over: Connection = UNKNOWN) -> Got:
    path, _, query = target.partition("?")
    scope = {
        "type": "http",
        "method": method,
        "path": unquote(path, errors="replace"),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": headers,
        "http_version": "1.1",
        "scheme": "http",
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 5555),
        "root_path": "",
        EXCHANGE: Channel(over),
    }
    sent: list[Any] = []
    messages: Iterator[Any] = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive() -> Any:
        """Return the body. A further call never returns, because the client does not disconnect."""
        for message in messages:
            return message
        return await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    start, *rest = sent
    return Got(
        start["status"],
        {bytes(name).decode(): value.decode() for name, value in start["headers"]},
        b"".join(part.get("body", b"") for part in rest),
    )


def bare_exchange(*headers: tuple[bytes, bytes], over: Connection = UNKNOWN, **more: Any) -> Exchange:
    """Return an exchange for a request of / with these headers, without an application."""
    scope = {"method": "GET", "path": "/", "raw_path": b"/", "query_string": b"", "headers": list(headers), EXCHANGE: Channel(over)}
    return Exchange(scope | more, asyncio.Event().wait)  # type: ignore[arg-type]


@contextmanager
def serving(directory: Path, **changed: Any) -> Iterator[Client]:
    with Client(settings(directory, **changed)) as client:
        yield client
