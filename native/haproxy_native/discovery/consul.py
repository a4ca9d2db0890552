"""Services of a Consul agent, with the instances that its health checks pass.

An answer other than 200, or one of a cluster without a leader, says nothing about services: whatever was known stays. An agent that has
just come back may answer from what it knew long ago; until a look has succeeded, answers have to be those of a leader that is up to date.
"""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from haproxy_native.discovery.services import Definition, Endpoint, Found, SourceFailed
from haproxy_native.discovery.watch import OPEN, Watch

if TYPE_CHECKING:
    import httpx2

LONGEST, SHORTEST, CONNECTING = 60.0, 10.0, 5.0
AT_ONCE = 8
# What changes with any instance of any service; a query for the change alone returns none of them.
CATALOGUE, CHECKS = "/v1/catalog/services", "/v1/health/state/any"
NONE = 'ServiceName == "-"'
OWN = "consul"


class Consul:
    """`look` asks for the catalogue, then for each service that the definition admits."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.prefix = f"consul-backend-{definition['address']}-{definition['port']}-"
        self._timeout = min(LONGEST, max(SHORTEST, float(definition["retry_timeout"])))
        self._settled = False
        self._asking = asyncio.Semaphore(AT_ONCE)
        self._watch = Watch(self._index, (CATALOGUE, CHECKS), float(definition["retry_timeout"]))
        self._client: httpx2.AsyncClient | None = None

    async def look(self) -> Found:
        """Raises SourceFailed."""
        try:
            found = await self._look()
        except SourceFailed:
            self._settled = False
            raise
        self._settled = not found.unknown
        return found

    async def _look(self) -> Found:
        listed = await self._get(CATALOGUE, self._filter())
        if not isinstance(listed, Mapping):
            raise SourceFailed(f"{CATALOGUE}: the answer is no list of services")
        names = [str(name) for name in listed if self._admits(str(name))]
        answers = await asyncio.gather(*map(self._endpoints, names))
        unknown = {name: answer for name, answer in zip(names, answers, strict=True) if isinstance(answer, str)}
        return Found({name: answer for name, answer in zip(names, answers, strict=True) if not isinstance(answer, str)}, unknown)

    async def changed(self, seconds: float) -> None:
        await self._watch.changed(seconds)

    async def close(self) -> None:
        await self._watch.stop()
        if self._client:
            await self._client.aclose()

    def _filter(self) -> dict[str, str]:
        wanted = self.definition.get("service_name_regexp")
        return {"filter": f"ServiceName matches {json.dumps(wanted, ensure_ascii=False)}"} if wanted else {}

    def _admits(self, name: str) -> bool:
        """An agent older than its filters lists every service, so the expression is applied here as well where it is understood."""
        definition = self.definition
        if name == OWN or not _matches(definition.get("service_name_regexp"), name):
            return False
        if definition.get("service_allowlist"):
            return name in definition["service_allowlist"]
        return name not in definition.get("service_denylist", ())

    async def _endpoints(self, service: str) -> tuple[Endpoint, ...] | str:
        """Returns the endpoints of one service, or why they are unknown."""
        try:
            async with self._asking:
                entries = await self._get(f"/v1/health/service/{quote(service, safe='')}", {})
            return endpoints(entries, self.definition["health_check_policy"], self.definition.get("health_check_policy_min", 0))
        except SourceFailed as error:
            return str(error)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            return f"/v1/health/service/{service}: the answer is no list of instances ({type(error).__name__}: {error})"

    async def _get(self, path: str, parameters: Mapping[str, str]) -> Any:
        answer = await self._answer(path, {**parameters, **({} if self._settled else {"consistent": ""})}, self._timeout)
        try:
            return answer.json()
        except ValueError as error:
            raise SourceFailed(f"{path}: {error}") from error

    async def _index(self, path: str, known: str) -> str:
        """Returns the index of a blocking query, once it differs from the known one."""
        blocking = {"index": known, "wait": f"{OPEN:g}s"} if known else {}
        index: str = (await self._answer(path, {"filter": NONE, **blocking}, self._timeout + 2 * OPEN)).headers.get("X-Consul-Index", "")
        return "" if index == "0" else index

    async def _answer(self, path: str, parameters: Mapping[str, str], seconds: float) -> "httpx2.Response":
        import httpx2

        namespace = {"ns": self.definition["namespace"]} if self.definition.get("namespace") else {}
        try:
            async with asyncio.timeout(seconds):
                answer = await self._opened().get(path, params={**parameters, **namespace})
        except TimeoutError:
            raise SourceFailed(f"{path}: no answer within {seconds:g} seconds") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            raise SourceFailed(f"{path}: {str(error) or type(error).__name__}") from error
        if answer.status_code != 200:
            raise SourceFailed(f"{path}: {answer.status_code} {answer.text[:200].strip()}")
        if answer.headers.get("X-Consul-KnownLeader") == "false":
            raise SourceFailed(f"{path}: the cluster has no leader")
        return answer

    def _opened(self) -> "httpx2.AsyncClient":
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


def endpoints(entries: Sequence[Mapping[str, Any]], policy: str, least: int) -> tuple[Endpoint, ...]:
    """The instances of one answer of /v1/health/service that the policy calls healthy."""
    return tuple(dict.fromkeys(_endpoint(entry) for entry in entries if _is_healthy(entry.get("Checks") or [], policy, least)))


def _endpoint(entry: Mapping[str, Any]) -> Endpoint:
    service = entry["Service"]
    return Endpoint(str(service.get("Address") or entry["Node"]["Address"]), int(service.get("Port") or 0) or None)


def _is_healthy(checks: Sequence[Mapping[str, Any]], policy: str, least: int) -> bool:
    passing = sum(check["Status"] == "passing" for check in checks)
    allowed: dict[str, bool] = {"none": True, "any": passing > 0, "all": 0 < passing == len(checks), "min": passing >= max(least, 1)}
    return allowed[policy]


def _matches(expression: str | None, name: str) -> bool:
    """Consul's expressions are Go's; one that Python does not know is left to Consul."""
    try:
        return expression is None or re.search(expression, name) is not None
    except re.error:
        return True
