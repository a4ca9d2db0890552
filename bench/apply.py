"""Measure an apply of many objects: the first call, when all of it is new, and the second call, when nothing differs."""

import json
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2

from bench.floors import timed
from bench.plan import Effort
from tests.acceptance.quick import PLAIN, Quick
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy
from tests.haproxy.sidecar import USER

FIRST, SECOND = "apply 3,000 servers, without 1.1 haproxy -c", "apply 3,000 servers again"


def of_apply(work: Effort) -> dict[str, float]:
    """Seconds, for so many backends of three servers; the first call is less 1.1 times what `haproxy -c` takes for the result."""
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        haproxy = stack.enter_context(HAProxy(directory, PLAIN.format(), binary=binaries.newest()))
        with Quick(haproxy) as sidecar:
            body = json.dumps({"backends": [declared_backend(number) for number in range(work.declared)]}).encode()
            first = _seconds(sidecar, body, "created", work.declared)
            second = timed(lambda: _seconds(sidecar, body, "unchanged", 4 * work.declared), 5)
            check = timed(lambda: subprocess.run([haproxy.binary, "-c", "-q", "-f", str(haproxy.file)], check=True, capture_output=True), 3)
    return {FIRST: first - 1.1 * check, SECOND: second}


def declared_backend(number: int) -> dict[str, Any]:
    servers = {f"s{each}": {"name": f"s{each}", "address": "127.0.0.1", "port": 1000 + each, "weight": 10} for each in range(3)}
    return {"name": f"b{number}", "from": "plain", "balance": {"algorithm": "roundrobin"}, "servers": servers}


def _seconds(sidecar: Quick, body: bytes, member: str, number: int) -> float:
    began = time.perf_counter()
    answer = httpx2.put(
        f"http://127.0.0.1:{sidecar.port}/v3/sidecar/apply?owner=bench",
        content=body,
        headers={"Content-Type": "application/json"},
        auth=USER,
        timeout=120,
    )
    taken = time.perf_counter() - began
    assert answer.status_code in (200, 202), answer.text[:500]
    assert len(answer.json()[member]) == number, member
    return taken
