"""Call the server as known clients do: with their headers, and with the assertions that they rely on."""

from typing import Any, Self

import httpx2

from tests.acceptance.quick import SERVICES
from tests.haproxy.sidecar import CONFIGURATION, USER, Sidecar

JSON = {"Content-Type": "application/json"}


class Persona:
    """A client that sends `headers` with every call.

    Paths are relative to `configuration/`, or absolute. Every answer must have the version. Its body must be JSON or the text of a file,
    and must be empty for a deletion.
    """

    def __init__(self, sidecar: Sidecar, headers: dict[str, str] | None = None) -> None:
        self.sidecar = sidecar
        self.client = httpx2.Client(base_url=f"http://127.0.0.1:{sidecar.port}", auth=USER, timeout=60, verify=False)
        for name in ("Accept", "User-Agent", "Accept-Encoding"):
            del self.client.headers[name]
        self.client.headers.update(headers or {})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def __call__(self, method: str, path: str, body: Any = None, *, expect: int | tuple[int, ...] = 202, **query: Any) -> Any:
        """Send a request, assert the status of the answer, and return its decoded body; None for a deletion."""
        answer = self.raw(method, path, body, **query)
        wanted = (expect,) if isinstance(expect, int) else expect
        assert answer.status_code in wanted, f"{method} {path}: {answer.status_code} {answer.text}"
        assert answer.headers["Configuration-Version"].isdigit()
        if method == "DELETE" and answer.is_success:
            assert answer.content == b""
            return None
        return answer.text if answer.headers["Content-Type"].startswith("text/plain") else answer.json()

    def raw(self, method: str, path: str, body: Any = None, **query: Any) -> httpx2.Response:
        url = path if path.startswith("/") else f"{CONFIGURATION}/{path}"
        if isinstance(body, str):
            return self.client.request(method, url, params=query, content=body, headers={"Content-Type": "text/plain"})
        return self.client.request(method, url, params=query, **({} if body is None else {"json": body}))

    def version(self) -> int:
        """Return the version of the configuration, whose answer is a number and a line break."""
        text = self.raw("GET", "version").text
        assert text == f"{int(text)}\n"
        return int(text)

    def begin(self) -> str:
        transaction = self("POST", f"{SERVICES}/transactions", expect=201, version=self.version())
        assert transaction["status"] == "in_progress"
        return str(transaction["id"])

    def commit(self, transaction: str, **query: Any) -> httpx2.Response:
        answer = self.raw("PUT", f"{SERVICES}/transactions/{transaction}", **query)
        assert answer.status_code in (200, 202), answer.text
        assert (answer.json()["id"], answer.json()["status"]) == (transaction, "success")
        assert ("Reload-Id" in answer.headers) == (answer.status_code == 202)
        return answer
