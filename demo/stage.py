"""The directory of the demo, with the two configurations made from the files beside this module."""

import socket
from dataclasses import dataclass
from pathlib import Path

TEMPLATES = Path(__file__).parent
API, SITE = 5555, 8080


@dataclass(frozen=True)
class Stage:
    """Ports on 127.0.0.1 and the directory that holds every file."""

    directory: Path
    haproxy: str
    api: int
    site: int
    one: int
    two: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.api}/v3/services/haproxy/configuration"

    @property
    def haproxy_command(self) -> list[str]:
        return [self.haproxy, "-W", "-S", str(self.directory / "master.sock"), "-f", str(self.directory / "haproxy.cfg")]

    @property
    def settings(self) -> Path:
        return self.directory / "dataplaneapi.yaml"


def prepare(directory: Path, haproxy: str, pages: tuple[int, int] = (0, 0)) -> Stage:
    """The stage on the well-known ports, or on free ones where those are taken; `pages` are wanted by the two pages, 0 for any."""
    stage = Stage(directory, haproxy, *free_ports(API, SITE, *pages))
    for name in ("haproxy.cfg", "dataplaneapi.yaml"):
        text = (TEMPLATES / name).read_text()
        for key, value in vars(stage).items():
            text = text.replace(f"@{key.upper()}@", str(value))
        (directory / name).write_text(text)
    return stage


def free_ports(*wanted: int) -> list[int]:
    """A free port for each, the wanted one where it is free; 0 wants none."""
    listeners = [_listen(port) for port in wanted]
    ports = [int(listener.getsockname()[1]) for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError:
        return socket.create_server(("127.0.0.1", 0))
