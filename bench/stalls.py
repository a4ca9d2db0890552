"""Measure how long other requests wait during a large one: the longest wait of a small read, relative to the time of the large one.

It is near one for a request that the event loop answers as a whole, on a slow machine as on a fast one.
"""

import threading
from collections.abc import Iterator

from bench.connection import Connection
from bench.farm import Farm
from bench.subject import CONFIGURATION, Subject


def stalls(subject: Subject, farm: Farm) -> Iterator[tuple[str, float]]:
    """Yield the ratio of each large request."""
    text = farm.haproxy.file.read_text()
    changed = text.replace("maxconn 200", "maxconn 201").encode()
    requests: dict[str, tuple[str, str, bytes | None]] = {
        "plan": ("POST", "/v3/sidecar/plan", changed),
        "drift": ("GET", "/v3/sidecar/drift", None),
        "history entry": ("GET", "/v3/sidecar/history/1", None),
        "whole list": ("GET", f"{CONFIGURATION}/backends?full_section=true", None),
        "raw text": ("GET", f"{CONFIGURATION}/raw", None),
        "lint": ("GET", "/v3/sidecar/lint", None),
    }
    subject.connection.ask("POST", f"{CONFIGURATION}/raw?skip_version=true&skip_reload=true", changed)
    requests["plan"] = ("POST", "/v3/sidecar/plan", text.encode())
    for name, request in requests.items():
        large, longest = longest_wait(subject.port, *request)
        yield f"longest wait during {name} / {name}", longest / large


def longest_wait(port: int, method: str, path: str, body: bytes | None) -> tuple[float, float]:
    """Return the seconds of a request, and those of the slowest small read meanwhile."""
    done, waits = threading.Event(), [0.0]

    def read() -> None:
        with Connection(port) as connection:
            while not done.is_set():
                waits.append(connection.ask("GET", "/v3/info").seconds)

    reader = threading.Thread(target=read)
    with Connection(port) as connection:
        reader.start()
        try:
            large = connection.ask(method, path, body).seconds
        finally:
            done.set()
            reader.join()
    return large, max(waits)
