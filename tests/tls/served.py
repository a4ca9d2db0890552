"""Run the whole application with a HAProxy that serves TLS, for tests of handlers."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.app.client import Client, Got, settings
from tests.haproxy import binaries
from tests.tls.site import TlsSite, tls_site

RUNTIME, STORAGE = "/v3/services/haproxy/runtime", "/v3/services/haproxy/storage"


@contextmanager
def tls_client(directory: Path, binary: str = "", **changed: Any) -> Iterator[tuple[TlsSite, Client]]:
    with tls_site(directory, binary or binaries.newest()) as site:
        reload = f"sh -c 'kill -USR2 {site.haproxy.pid}'"
        given = settings(
            directory,
            config_file=str(site.haproxy.file),
            haproxy_bin=site.haproxy.binary,
            reload_cmd=reload,
            ssl_certs_dir=str(site.directory),
            **changed,
        )
        with Client(given) as client:
            yield site, client


def upload(client: Client, method: str, target: str, content: str, name: str = "file.pem", field: str = "file_upload") -> Got:
    body = f'--sep\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\n\r\n{content}\r\n--sep--\r\n'
    return client(method, target, body.encode(), headers={"Content-Type": "multipart/form-data; boundary=sep"})


def quoted(name: str) -> str:
    return quote(name, safe="")
