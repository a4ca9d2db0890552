"""A client for the JSON gateway of etcd (etcd documentation, "Why gRPC gateway"), configured by the environment variables of etcdctl."""

import base64
import http.client
import json
import os
import ssl
from collections.abc import Iterator
from typing import Any

from dataplaneapi.ctl.contexts import check_key, parse_url
from dataplaneapi.ctl.failures import UNREACHABLE, Failure

DEFAULT = "http://127.0.0.1:2379"
CALL_SECONDS = 10.0


class Etcd:
    """A client of an etcd cluster. Each call opens a connection to the first endpoint that answers."""

    def __init__(self, endpoints: str = "") -> None:
        addresses = endpoints or os.environ.get("ETCDCTL_ENDPOINTS") or DEFAULT
        self.endpoints = [endpoint if "://" in endpoint else f"http://{endpoint}" for endpoint in addresses.split(",")]
        self._token = ""

    def get(self, key: str) -> tuple[bytes | None, int, int]:
        """Return (value of a key, revision of the key's last change, revision of the store).

        For a missing key, the value is None, and the revision of its last change is 0. Raises Failure.
        """
        response = self._call("/v3/kv/range", {"key": _base64(key)})
        pairs = response.get("kvs", [])
        revision = int(response["header"]["revision"])
        return (base64.b64decode(pairs[0].get("value", "")), int(pairs[0]["mod_revision"]), revision) if pairs else (None, 0, revision)

    def put(self, key: str, value: str) -> None:
        self._call("/v3/kv/put", {"key": _base64(key), "value": _base64(value)})

    def changes(self, key: str, revision: int, seconds: float) -> Iterator[None]:
        """Block, and yield once for each change of a key from `revision` on. Stop when the key has not changed for `seconds`.

        If etcd cancels the watch, this counts as a change. Raises Failure.
        """
        connection, response = self._request("/v3/watch", {"create_request": {"key": _base64(key), "start_revision": str(revision)}})
        try:
            connection.sock.settimeout(seconds)
            while line := response.readline():
                answer = json.loads(line)
                result = answer.get("result", {})
                if "events" in result or result.get("canceled") or "error" in answer:
                    yield
        except TimeoutError:
            return
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise Failure(f"etcd: {error}", UNREACHABLE) from None
        finally:
            response.close()
            connection.close()

    def _call(self, path: str, body: dict[str, Any]) -> Any:
        connection, response = self._request(path, body)
        try:
            return json.loads(response.read())
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise Failure(f"etcd: {error}", UNREACHABLE) from None
        finally:
            connection.close()

    def _request(self, path: str, body: dict[str, Any]) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """Send a request to the endpoints in turn, until one answers with the status 200.

        Return its connection, which is open, and its response. Raises Failure.
        """
        failure = Failure("etcd: no endpoint", UNREACHABLE)
        for endpoint in list(self.endpoints):
            connection = _new_connection(endpoint)
            try:
                if not self._token and (user := os.environ.get("ETCDCTL_USER")):
                    name, _, password = user.partition(":")
                    connection.request("POST", "/v3/auth/authenticate", json.dumps({"name": name, "password": password}))
                    response = connection.getresponse()
                    answer = response.read()
                    self._token = str(json.loads(answer).get("token", "")) if response.status == 200 else ""
                headers = {"Authorization": self._token} if self._token else {}
                connection.request("POST", path, json.dumps(body), headers)
                response = connection.getresponse()
            except (OSError, ValueError, http.client.HTTPException) as error:
                connection.close()
                failure = Failure(f"etcd {endpoint} does not answer: {error}", UNREACHABLE)
                continue
            if response.status == 200:
                # Later calls try this endpoint first.
                self.endpoints.sort(key=lambda other: other != endpoint)
                return connection, response
            answer = response.read()
            try:
                message = str(json.loads(answer)["message"])
            except (ValueError, KeyError, TypeError):
                message = answer[:200].decode("utf-8", "replace")
            failure = Failure(f"etcd {endpoint}: {response.status} {message}", UNREACHABLE)
            # The token may have expired.
            self._token = ""
            connection.close()
        raise failure


def _new_connection(endpoint: str) -> http.client.HTTPConnection:
    url = parse_url(endpoint, "etcd")
    if url.scheme != "https":
        return http.client.HTTPConnection(url.hostname or "", url.port or 2379, timeout=CALL_SECONDS)
    ca, certificate, key = (os.environ.get(f"ETCDCTL_{name}") for name in ("CACERT", "CERT", "KEY"))
    try:
        tls = ssl.create_default_context(cafile=ca)
        if certificate:
            check_key(key or certificate)
            tls.load_cert_chain(certificate, key)
    except OSError as error:
        raise Failure(f"TLS of etcd with {ca}, {certificate}, {key}: {error}") from None
    return http.client.HTTPSConnection(url.hostname or "", url.port or 2379, timeout=CALL_SECONDS, context=tls)


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
