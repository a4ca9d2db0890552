"""Measure whether the time of a refused login reveals which users exist, for users with every kind of password."""

import asyncio
import statistics
import tempfile
import time
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

from dataplaneapi.api.responses import Response
from dataplaneapi.auth import passwords
from dataplaneapi.auth.gate import Gate
from dataplaneapi.auth.users import Users
from dataplaneapi.settings.table import Settings
from haproxy_native.text.document import Document

ROW = "refusals, slowest name / quickest"
SETTINGS = ["$1$saltsalt", "$5$saltsalt", "$6$rounds=8000$saltsalt", "$y$j75$saltsaltsalt", "$2b$06$abcdefghijklmnopqrstuu"]
TRIES = 9


def of_refusals() -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="bench-") as directory:
        medians = asyncio.run(_medians(directory))
    return {ROW: max(medians.values()) / min(medians.values())}


async def _medians(directory: str) -> Mapping[str, float]:
    """Return the seconds of processor time of a refusal, by name: names of users, and three of nobody."""
    hashes = [passwords.hashed("right", setting) or f"{setting}$none" for setting in SETTINGS]
    known: list[dict[str, Any]] = [{"name": f"user{number}", "password": stored} for number, stored in enumerate(hashes)]
    known.append({"name": "clear", "password": "right", "insecure": True})
    gate = Gate(Users(Settings(dataplane_storage_dir=directory, users=known), lambda: Document.parse(b"")))
    times: dict[str, list[float]] = {name: [] for name in [*(each["name"] for each in known), "nobody", "root", "x" * 200]}
    for _ in range(TRIES):
        for name, taken in times.items():
            began = time.process_time()
            # From an address of its own, so that none is over the limit.
            result = await gate.authenticate(b"Basic " + b64encode(f"{name}:wrong".encode()), f"{name} {len(taken)}")
            assert isinstance(result, Response), name
            taken.append(time.process_time() - began)
    return {name: statistics.median(taken) for name, taken in times.items()}
