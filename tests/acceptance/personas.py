"""A client as it is met in the field: its headers on every call, and what it takes for an answer."""

from typing import Any, Self

import httpx2

from tests.acceptance.quick import SERVICES
from tests.haproxy.sidecar import CONFIGURATION, USER, Sidecar

JSON = {"Content-Type": "application/json"}


class Persona:
    """`headers` go along on every call, with or without a body; a header that is None is not sent at all.

    Paths are below `configuration/`, or whole ones. Every answer must be JSON or a file's text and tell the version; a deletion's is empty.
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
        """The decoded body of an answer with an expected status."""
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
        """A bare number and a line break."""
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
