"""`EtcdStore`: the store of a fleet on etcd, over its JSON gateway (etcd documentation, "Why gRPC gateway").

All reads are linearizable. If an endpoint does not answer in time, the call goes to the next endpoint. A write may then be sent twice. The
second write fails its comparison as if another node had been first, and the caller reads again. The gateway reports errors in several
forms, so errors are recognized by their text.
"""

import base64
import json
import ssl
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from haproxy_native.features.fleet.store import StoreAway, StoreDenied, StoredValue, StoreFacts, StoreFull, TooLarge

if TYPE_CHECKING:
    import httpx2

CALL_SECONDS = 3.0
# The first segment of the gateway's paths.
API = "v3"
# Texts in the answers to calls whose token is missing or no longer valid.
_SIGN_IN = ("invalid auth token", "revision of auth store is old", "user name is empty")


@dataclass(frozen=True)
class EtcdSettings:
    endpoints: Sequence[str]
    ca_file: str = ""
    certificate: str = ""
    key: str = ""
    user: str = ""
    password: str = ""


class EtcdStore:
    """A client of etcd. After each failure its HTTP client is closed, so that the next HTTP client reads the certificates again."""

    largest = 1 << 20

    def __init__(self, settings: EtcdSettings) -> None:
        self._settings, self._endpoints = settings, list(settings.endpoints)
        self._client: httpx2.AsyncClient | None = None
        self._token = ""

    async def read(self, key: str) -> StoredValue | None:
        entries = _entries(await self.call("kv/range", {"key": _base64(key)}))
        return entries[0] if entries else None

    async def list(self, prefix: str) -> list[StoredValue]:
        return _entries(await self.call("kv/range", {"key": _base64(prefix), "range_end": _base64(_end(prefix))}))

    async def create(self, key: str, value: bytes) -> str | None:
        return await self._put(key, value, {"target": "CREATE", "create_revision": "0"})

    async def replace(self, key: str, value: bytes, version: str | None = None) -> str | None:
        return await self._put(key, value, {"target": "MOD", "mod_revision": version} if version else None)

    async def delete(self, key: str) -> bool:
        answer = await self.call("kv/deleterange", {"key": _base64(key)})
        return int(answer.get("deleted", 0)) > 0

    async def present(self, key: str, value: bytes, seconds: int) -> "EtcdPresence | None":
        lease = str((await self.call("lease/grant", {"TTL": str(seconds)}))["ID"])
        made = await self._put(key, value, {"target": "CREATE", "create_revision": "0"}, lease)
        presence = EtcdPresence(self, lease)
        if made is None:
            await presence.leave()
            return None
        return presence

    async def changes(self, prefix: str) -> AsyncIterator[None]:
        import httpx2

        body = {"create_request": {"key": _base64(prefix), "range_end": _base64(_end(prefix))}}
        # This call moves an endpoint that answers to the front.
        await self.facts()
        endpoint = self._endpoints[0]
        try:
            headers = await self._headers(endpoint)
            async with self._connected().stream(
                "POST", f"{endpoint}/{API}/watch", json=body, headers=headers, timeout=httpx2.Timeout(CALL_SECONDS, read=None)
            ) as response:
                async for line in response.aiter_lines():
                    answer = json.loads(line)
                    result = answer.get("result", {})
                    if "error" in answer or result.get("canceled") or response.status_code != 200:
                        self._token = ""
                        return
                    yield
        except (httpx2.HTTPError, OSError, ValueError) as error:
            raise StoreAway(f"etcd {endpoint}: {error or type(error).__name__}") from None

    async def facts(self) -> StoreFacts:
        answer = await self.call("maintenance/status", {})
        return StoreFacts(str(answer.get("version", "")), int(answer.get("dbSize", 0)))

    async def close(self) -> None:
        client, self._client = self._client, None
        if client:
            await client.aclose()

    async def _put(self, key: str, value: bytes, compare: dict[str, Any] | None, lease: str = "") -> str | None:
        if len(value) > self.largest:
            raise TooLarge(f"{key} has {len(value)} bytes; etcd accepts {self.largest}")
        put = {"key": _base64(key), "value": base64.b64encode(value).decode()} | ({"lease": lease} if lease else {})
        compared = [{"key": _base64(key), "result": "EQUAL", **compare}] if compare else []
        answer = await self.call("kv/txn", {"compare": compared, "success": [{"request_put": put}]})
        return str(answer["header"]["revision"]) if answer.get("succeeded") else None

    async def call(self, path: str, body: dict[str, Any]) -> Any:
        """Try the endpoints in turn, and return the first answer. Raises StoreAway, StoreDenied, StoreFull and TooLarge."""
        failure = StoreAway("etcd: no endpoint")
        for endpoint in list(self._endpoints):
            for is_first in (True, False):
                try:
                    return await self._post(endpoint, path, body)
                except StoreDenied as error:
                    # A token is valid for some minutes, and only at the etcd process that issued it.
                    if not (is_first and self._settings.user):
                        raise
                    self._token, failure = "", StoreAway(error.detail)
                except StoreAway as error:
                    failure = error
                    await self.close()
                    break
            self._endpoints.remove(endpoint)
            self._endpoints.append(endpoint)
        raise failure

    async def _post(self, endpoint: str, path: str, body: dict[str, Any]) -> Any:
        import httpx2

        try:
            headers = await self._headers(endpoint)
            response = await self._connected().post(f"{endpoint}/{API}/{path}", json=body, headers=headers)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise StoreAway(f"etcd {endpoint} does not answer: {error or type(error).__name__}") from None
        return _checked(endpoint, response)

    async def _headers(self, endpoint: str) -> dict[str, str]:
        settings = self._settings
        if settings.user and not self._token:
            body = {"name": settings.user, "password": settings.password}
            answer = await self._connected().post(f"{endpoint}/{API}/auth/authenticate", json=body)
            # etcd without authentication refuses to sign anybody in, and needs no token.
            if "authentication is not enabled" not in answer.text:
                self._token = str(_checked(endpoint, answer).get("token", ""))
        return {"Authorization": self._token} if self._token else {}

    def _connected(self) -> "httpx2.AsyncClient":
        import httpx2

        if self._client is None:
            # Reading the certificate authorities of the system takes 1.5 MiB.
            settings, context = self._settings, ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            if any(endpoint.startswith("https:") for endpoint in settings.endpoints):
                context = ssl.create_default_context(cafile=settings.ca_file or None)
                if settings.certificate:
                    context.load_cert_chain(settings.certificate, settings.key or None)
            self._client = httpx2.AsyncClient(verify=context, timeout=CALL_SECONDS)
        return self._client


class EtcdPresence:
    """A key that etcd deletes when its lease ends."""

    def __init__(self, store: EtcdStore, lease: str) -> None:
        self._store, self._lease = store, lease

    async def renew(self) -> bool:
        answer = await self._store.call("lease/keepalive", {"ID": self._lease})
        return int(answer.get("result", {}).get("TTL", 0)) > 0

    async def leave(self) -> None:
        await self._store.call("lease/revoke", {"ID": self._lease})


def _checked(endpoint: str, response: "httpx2.Response") -> Any:
    """Return the JSON object of a successful answer. Raises StoreAway, StoreDenied, StoreFull and TooLarge for any other answer."""
    try:
        answer = response.json()
    except ValueError:
        answer = None
    if response.status_code == 200 and isinstance(answer, dict):
        return answer
    text = str(answer.get("message") or answer.get("error") or answer) if isinstance(answer, dict) else response.text
    where = f"etcd {endpoint}: {response.status_code} {text[:200]}"
    if response.status_code == 404:
        raise StoreAway(f"{where}; its JSON gateway is off, start etcd with --enable-grpc-gateway")
    if "database space exceeded" in text:
        raise StoreFull(f"{where}; delete keys, compact, defragment, and disarm the alarm (etcdctl alarm disarm)")
    if "request is too large" in text:
        raise TooLarge(where)
    if "CommonName" in text or "common name" in text:
        raise StoreDenied(f"{where}; the client certificate must have no Common Name")
    if response.status_code in (401, 403) or any(words in text for words in _SIGN_IN) or "authentication failed" in text:
        raise StoreDenied(where)
    raise StoreAway(where)


def _entries(answer: Any) -> list[StoredValue]:
    return [
        StoredValue(base64.b64decode(row["key"]).decode(), base64.b64decode(row.get("value", "")), str(row["mod_revision"]))
        for row in answer.get("kvs", ())
    ]


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _end(prefix: str) -> str:
    """Return the first key after all keys that begin with `prefix`, an ASCII text."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)
