"""Keeps the backends of HAProxy in step with a directory of JSON files, one for each backend.

    controller.py DIRECTORY HAPROXY.CFG MASTER-SOCKET [HAPROXY]

`shop.json` with `{"web1": {"address": "192.0.2.1", "port": 80, "weight": 10}, ...}` says which servers the backend `shop` has. Its other
lines stay. A file that cannot be used is reported, and leaves its backend as it is; so does one that has been deleted.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import haproxy_native
from haproxy_native import ConfigurationChange, HAProxy, NativeError

Wanted = dict[str, dict[str, Any]]
SECONDS = 1.0


def read(file: Path) -> Wanted:
    """The servers of a file, by name. Raises OSError and ValueError."""
    found = json.loads(file.read_text())
    if not isinstance(found, dict) or not all(isinstance(each, dict) for each in found.values()):
        raise ValueError("not an object of objects")
    return found


def apply(change: ConfigurationChange, backend: str, wanted: Wanted) -> None:
    """Makes the servers of a backend those that are wanted; members that a file does not name stay. Raises NativeError."""
    servers = (change.backends.get(backend) or change.backends.add(name=backend)).servers
    for name in set(servers) - set(wanted):
        del servers[name]
    for name, members in wanted.items():
        server = servers.get(name)
        if server is None:
            servers.add(name=name, **members)
        else:
            for member, value in members.items():
                setattr(server, member, value)


async def synchronize(haproxy: HAProxy, file: Path) -> None:
    """One backend in one change, so that a wrong file keeps no other from being applied."""
    try:
        wanted = read(file)
        async with haproxy.change() as change:
            apply(change, file.stem, wanted)
    except (OSError, ValueError, NativeError) as error:
        print(f"{file.name}: {error}", file=sys.stderr, flush=True)
        return
    if change.outcome.changed:
        print(f"{file.name}: {change.outcome}", flush=True)


def stamps(directory: Path) -> set[tuple[Path, int]]:
    """Each file with the time of its last change."""
    return {(file, file.stat().st_mtime_ns) for file in directory.glob("*.json")}


async def watch(directory: Path, file: str, master: str, binary: str = "haproxy") -> None:
    """Looks once a second which files have changed."""
    seen: set[tuple[Path, int]] = set()
    async with haproxy_native.open(file, master=master, haproxy=binary) as haproxy:
        while True:
            seen, before = stamps(directory), seen
            for changed, _ in sorted(seen - before):
                await synchronize(haproxy, changed)
            await asyncio.sleep(SECONDS)


if __name__ == "__main__":
    asyncio.run(watch(Path(sys.argv[1]), *sys.argv[2:]))
