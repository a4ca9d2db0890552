"""Answer every request with one fixed body: the minimum for uvicorn. What it takes is the floor of a read."""

import os
from typing import Any

BODY = os.environ.get("BENCH_BODY", "{}").encode()
HEADERS = [(b"content-type", b"application/json"), (b"content-length", str(len(BODY)).encode())]


async def app(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        await send({"type": "http.response.body", "body": BODY})
