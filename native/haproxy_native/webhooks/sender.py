"""`Sender`: one attempt to deliver an event, over a connection that is kept for the next one."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING

from haproxy_native.webhooks import message
from haproxy_native.webhooks.pace import Answer, retry_after
from haproxy_native.webhooks.queue import Waiting
from haproxy_native.webhooks.webhook import Webhook

if TYPE_CHECKING:
    import httpx2

# An attempt is over after so many seconds, whatever the receiver does.
SECONDS = 15.0
# So much of an answer's body is read, of a longer one no more: its connection is closed.
MOST_BYTES, SHOWN = 1 << 14, 200
AGENT = "dataplane-sidecar"


class Sender:
    """To the receiver of one webhook. `source` is that of its events."""

    def __init__(self, webhook: Webhook, source: str) -> None:
        self._webhook, self._source = webhook, source
        self._client: httpx2.AsyncClient | None = None

    async def send(self, waiting: Waiting) -> Answer:
        """Returns within SECONDS and a moment; raises nothing but CancelledError."""
        try:
            client = await self._opened()
            headers, body = await asyncio.to_thread(self._request, waiting)
        except (OSError, ValueError, ImportError) as error:
            return Answer(error=f"{type(error).__name__}: {error}")
        try:
            async with asyncio.timeout(SECONDS):
                return await self._attempt(client, headers, body)
        except TimeoutError:
            return Answer(error=f"no answer within {SECONDS:g} seconds")

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    def _request(self, waiting: Waiting) -> tuple[dict[str, str], bytes]:
        event = json.loads(waiting.body)
        body = message.cloud_event(self._source, waiting.sequence, event)
        return message.headers(event["id"], time.time(), body, self._webhook.keys()), body

    async def _attempt(self, client: "httpx2.AsyncClient", headers: dict[str, str], body: bytes) -> Answer:
        import httpx2

        try:
            async with client.stream("POST", self._webhook.url, content=body, headers=headers) as answer:
                text = await _start(answer.aiter_raw())
                asked = retry_after(answer.headers.get("Retry-After", ""), time.time())
                return Answer(answer.status_code, "" if answer.is_success else _shown(text), asked)
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            return Answer(error=f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)

    async def _opened(self) -> "httpx2.AsyncClient":
        if self._client is None:
            self._client = await asyncio.to_thread(_client, self._webhook)
        return self._client


def _client(webhook: Webhook) -> "httpx2.AsyncClient":
    """Raises OSError."""
    import httpx2

    timeout, limits = httpx2.Timeout(None), httpx2.Limits(max_connections=1, keepalive_expiry=30.0)
    return httpx2.AsyncClient(verify=webhook.context(), timeout=timeout, limits=limits, headers={"User-Agent": AGENT})


async def _start(parts: AsyncIterator[bytes]) -> bytes:
    """Returns the start of a body that may be long, endless or cut short: the status came before it."""
    import httpx2

    head = b""
    with suppress(httpx2.HTTPError):
        async for part in parts:
            head += part
            if len(head) > MOST_BYTES:
                break
    return head[:SHOWN]


def _shown(text: bytes) -> str:
    return " ".join(text.decode("utf-8", "replace").split())
