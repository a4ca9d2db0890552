"""Find the services of a Consul agent, and the instances of each service that pass the health check policy of the definition.

A query fails if the answer has a status other than 200, or comes from a cluster without a leader. A failed query changes no servers. An
agent that has just started may answer with old data. Therefore, until a poll has succeeded, queries use the `consistent` mode, in which
an up-to-date leader answers.
"""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from haproxy_native.background import Background
from haproxy_native.discovery.backends import ServiceEndpoint
from haproxy_native.discovery.definitions import Definition
from haproxy_native.discovery.poller import ServiceCatalog, SourceFailed

if TYPE_CHECKING:
    import httpx2

# How long a blocking query remains open, and the pause between two of them, in seconds.
OPEN, BETWEEN = 60.0, 1.0
# Sends a blocking query for a path: (path, last index or "") -> index of the answer, "" if it has none. Raises SourceFailed.
Ask = Callable[[str, str], Awaitable[str]]


class BlockingQueries:
    """Reports changes early. For each path, a blocking query is open, which the agent answers when something has changed.

    An answer only brings the next poll forward. Regular polls notice every change, even if the agent answers too early, too late or never.
    A failed query is repeated after `retry` seconds. The first answer after a failure counts as a change.
    """

    def __init__(self, ask: Ask, paths: Sequence[str], retry: float) -> None:
        self._ask, self._paths, self._retry = ask, paths, retry
        self._changed = asyncio.Event()
        self._background: Background | None = None

    async def wait_for_change(self, seconds: float) -> None:
        """Wait up to `seconds` until something has changed since the last call. The first call starts the queries."""
        if self._background is None:
            self._background = Background("watching a Consul agent")
            for path in self._paths:
                self._background.begin(self._watch(path))
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        self._changed.clear()

    async def stop(self) -> None:
        if self._background:
            await self._background.stop()

    async def _watch(self, path: str) -> None:
        index = ""
        while True:
            began, known = time.monotonic(), index
            try:
                index = await self._ask(path, known)
            except SourceFailed:
                index = ""
                await asyncio.sleep(self._retry)
                continue
            if index != known:
                self._changed.set()
            blocks = index and (index != known or time.monotonic() - began > OPEN / 2)
            await asyncio.sleep(BETWEEN if blocks else OPEN)


LONGEST, SHORTEST, CONNECTING = 60.0, 10.0, 5.0
AT_ONCE = 8
# Paths whose index changes whenever an instance of any service changes. With the filter NONE, an answer has only the index.
CATALOGUE, CHECKS = "/v1/catalog/services", "/v1/health/state/any"
NONE = 'ServiceName == "-"'
OWN = "consul"


class Consul:
    """The source for the definition of a Consul agent. A poll queries the catalogue, and then each service that the definition admits."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.prefix = f"consul-backend-{definition['address']}-{definition['port']}-"
        self._timeout = min(LONGEST, max(SHORTEST, float(definition["retry_timeout"])))
        # Whether the last poll has succeeded.
        self._has_succeeded = False
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._watch = BlockingQueries(self._query_index, (CATALOGUE, CHECKS), float(definition["retry_timeout"]))
        self._client: httpx2.AsyncClient | None = None

    async def poll(self) -> ServiceCatalog:
        """Return the services. Raises SourceFailed."""
        regexp = self.definition.get("service_name_regexp")
        try:
            listed = await self._get(
                CATALOGUE, {"filter": f"ServiceName matches {json.dumps(regexp, ensure_ascii=False)}"} if regexp else {}
            )
            if not isinstance(listed, Mapping):
                raise SourceFailed(f"{CATALOGUE}: the answer is not a list of services")
        except SourceFailed:
            self._has_succeeded = False
            raise
        names = [str(name) for name in listed if self._admits(str(name))]
        answers = dict(zip(names, await asyncio.gather(*map(self._endpoints, names)), strict=True))
        known = {name: answer for name, answer in answers.items() if not isinstance(answer, str)}
        unknown = {name: answer for name, answer in answers.items() if isinstance(answer, str)}
        self._has_succeeded = not unknown
        return ServiceCatalog(known, unknown)

    async def wait_for_change(self, seconds: float) -> None:
        await self._watch.wait_for_change(seconds)

    async def close(self) -> None:
        await self._watch.stop()
        if self._client:
            await self._client.aclose()

    def _admits(self, name: str) -> bool:
        definition = self.definition
        if name == OWN:
            return False
        # An agent that does not support filters lists every service. Consul has Go's syntax of regular expressions: if Python cannot
        # compile an expression, only Consul applies it.
        with suppress(re.error):
            if (regexp := definition.get("service_name_regexp")) is not None and not re.search(regexp, name):
                return False
        if definition.get("service_allowlist"):
            return name in definition["service_allowlist"]
        return name not in definition.get("service_denylist", ())

    async def _endpoints(self, service: str) -> tuple[ServiceEndpoint, ...] | str:
        """Return the endpoints of one service, or why they are unknown."""
        try:
            async with self._slots:
                entries = await self._get(f"/v1/health/service/{quote(service, safe='')}", {})
            return endpoints(entries, self.definition["health_check_policy"], self.definition.get("health_check_policy_min", 0))
        except SourceFailed as error:
            return str(error)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            return f"/v1/health/service/{service}: the answer is not a list of instances ({type(error).__name__}: {error})"

    async def _get(self, path: str, parameters: Mapping[str, str]) -> Any:
        answer = await self._query(path, {**parameters, **({} if self._has_succeeded else {"consistent": ""})}, self._timeout)
        try:
            return answer.json()
        except ValueError as error:
            raise SourceFailed(f"{path}: {error}") from error

    async def _query_index(self, path: str, known: str) -> str:
        """Return the index that the agent reports for a path; empty if the answer has no index.

        If `known` is not empty, wait until the index differs from `known`, for at most about OPEN seconds. Raises SourceFailed.
        """
        blocking = {"index": known, "wait": f"{OPEN:g}s"} if known else {}
        answer = await self._query(path, {"filter": NONE, **blocking}, self._timeout + 2 * OPEN)
        index: str = answer.headers.get("X-Consul-Index", "")
        return "" if index == "0" else index

    async def _query(self, path: str, parameters: Mapping[str, str], seconds: float) -> "httpx2.Response":
        import httpx2

        namespace = {"ns": self.definition["namespace"]} if self.definition.get("namespace") else {}
        try:
            async with asyncio.timeout(seconds):
                answer = await self._open_client().get(path, params={**parameters, **namespace})
        except TimeoutError:
            raise SourceFailed(f"{path}: no answer within {seconds:g} seconds") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            raise SourceFailed(f"{path}: {str(error) or type(error).__name__}") from error
        if answer.status_code != 200:
            raise SourceFailed(f"{path}: {answer.status_code} {answer.text[:200].strip()}")
        if answer.headers.get("X-Consul-KnownLeader") == "false":
            raise SourceFailed(f"{path}: the cluster has no leader")
        return answer

    def _open_client(self) -> "httpx2.AsyncClient":
        import httpx2

        if self._client is None:
            definition = self.definition
            host = definition["address"]
            if host.count(":") > 1 and not host.startswith("["):
                host = f"[{host}]"
            self._client = httpx2.AsyncClient(
                base_url=f"{definition['mode']}://{host}:{definition['port']}",
                headers={"X-Consul-Token": definition["token"]} if definition.get("token") else {},
                verify=definition["mode"] == "https",
                timeout=httpx2.Timeout(None, connect=CONNECTING),
                limits=httpx2.Limits(max_connections=AT_ONCE + 2),
            )
        return self._client


def endpoints(entries: Sequence[Mapping[str, Any]], policy: str, least: int) -> tuple[ServiceEndpoint, ...]:
    """Return the endpoints of the instances that the health check policy `policy` accepts.

    `entries`: the instances in an answer of /v1/health/service. `least`: how many checks must pass under the policy `min`.
    """
    accepted: dict[ServiceEndpoint, None] = {}
    for entry in entries:
        checks, service = entry.get("Checks") or [], entry["Service"]
        passing = sum(check["Status"] == "passing" for check in checks)
        allowed: dict[str, bool] = {"none": True, "any": passing > 0, "all": 0 < passing == len(checks), "min": passing >= max(least, 1)}
        if allowed[policy]:
            address, port = service.get("Address") or entry["Node"]["Address"], int(service.get("Port") or 0)
            accepted[ServiceEndpoint(str(address), port or None)] = None
    return tuple(accepted)
