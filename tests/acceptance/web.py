"""Run small web servers in one thread. Each answers with its name, and counts the requests."""

import asyncio
import socket
import threading
from collections import Counter
from types import TracebackType
from typing import Self


class Web:
    """Web servers, with `ports` by name. `asked` counts requests by name and path. A request of /slow waits for `release`."""

    def __init__(self, *names: str) -> None:
        self._sockets = {name: socket.create_server(("127.0.0.1", 0), backlog=512) for name in names}
        self.ports = {name: int(listener.getsockname()[1]) for name, listener in self._sockets.items()}
        self.asked: Counter[tuple[str, str]] = Counter()
        self.held = threading.Event()
        self.release = threading.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    async def _serve(self) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        servers = [await asyncio.start_server(self._answering(name), sock=listener) for name, listener in self._sockets.items()]
        self._ready.set()
        await self._ended.wait()
        for server in servers:
            server.close()

    def _answering(self, name: str):  # type: ignore[no-untyped-def]
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                while head := await _head(reader):
                    await self._respond(name, head, writer)
            except ConnectionError:
                pass
            finally:
                writer.close()

        return answer

    async def _respond(self, name: str, head: bytes, writer: asyncio.StreamWriter) -> None:
        path = head.split(b" ", 2)[1].decode()
        self.asked[name, path] += 1
        if path.endswith("/slow"):
            self.held.set()
            await asyncio.to_thread(self.release.wait, 30)
        body = name.encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
        await writer.drain()

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release.set()
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join(60)


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""
