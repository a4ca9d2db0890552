"""The HTTP client of `ctl`: sends calls to the API over TCP, TLS or a Unix socket."""

import http.client
import json
import os
import select
import socket
import ssl
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from dataplaneapi.ctl.contexts import Context, check_key, parse_url
from dataplaneapi.ctl.failures import UNREACHABLE, Failure, RefusedCall

CONNECT_SECONDS = 10.0
# A commit may wait for the previous one, and for a reload.
ANSWER_SECONDS = 300.0
JSON, YAML, TEXT = "application/json", "application/yaml", "text/plain"

Query = Mapping[str, Any]


class Answer:
    """A response of the server. The names in `headers` are in lower case."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx or 304. Any other redirect is a failure: to follow it could send the credentials to another server."""
        return 200 <= self.status < 300 or self.status == 304

    def json(self) -> Any:
        """Return the parsed body, or None if the body is empty. Raises Failure if the body is not JSON."""
        if not self.body:
            return None
        try:
            return json.loads(self.body)
        except ValueError:
            raise Failure("the answer is not JSON: is this a Data Plane API?", UNREACHABLE) from None


class Client:
    def __init__(self, context: Context, *, timeout: float = ANSWER_SECONDS) -> None:
        self.context, self.timeout = context, timeout
        self._connection: http.client.HTTPConnection | None = None
        self._url = parse_url(context.url, "url")
        self._prefix = self._url.path.rstrip("/").removesuffix("/v3")
        self._authorization = ""

    def get(self, path: str, query: Query | None = None) -> Any:
        return self.request("GET", path, query).json()

    def request(self, method: str, path: str, query: Query | None = None, body: Any = None, kind: str = JSON, **headers: str) -> Answer:
        """Send a request, block until the answer arrives, and return the answer.

        `path` begins with /v3, and names in it are quoted. `kind`: the media type of the body. `headers`: names have underscores for
        dashes. Raises RefusedCall for an answer that is not a success, and Failure if there is no answer.
        """
        answer = self.send(method, path, query, body, kind, **headers)
        if answer.is_success:
            return answer
        if answer.status != 401:
            credentials = ""
        elif self.context.get("token") or self.context.get("token_file"):
            credentials = "a token"
        elif user := self.context.get("user"):
            credentials = f"user {user}"
        elif self.context.get("certificate"):
            credentials = "a certificate"
        else:
            credentials = "nobody: no user, token or certificate is given"
        raise refusal(method, path, answer, credentials)

    def send(self, method: str, path: str, query: Query | None = None, body: Any = None, kind: str = JSON, **headers: str) -> Answer:
        """Send a request as `request` does, and return the answer even if it is not a success. Raises Failure if there is no answer."""
        response = self._exchange(method, path, query, body, kind, headers)
        try:
            data = response.read()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise self._unreachable(error) from None
        return Answer(response.status, _headers(response), data)

    def lines(self, path: str, query: Query | None = None, **headers: str) -> Iterator[str]:
        """Yield the lines of a streamed answer as they arrive.

        Raises RefusedCall if the answer is not a success, and Failure if the connection breaks.
        """
        response = self._exchange("GET", path, query, None, JSON, headers)
        if response.status != 200:
            raise refusal("GET", path, Answer(response.status, _headers(response), response.read()))
        try:
            while line := response.readline():
                yield line.decode("utf-8", "replace").rstrip("\r\n")
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable(error) from None
        finally:
            self.close()

    def close(self) -> None:
        if self._connection:
            self._connection.close()
        self._connection = None

    def _exchange(
        self, method: str, path: str, query: Query | None, body: Any, kind: str, headers: Mapping[str, str]
    ) -> http.client.HTTPResponse:
        """Send a request and return the response before its body is read. Raises Failure."""
        data = body if body is None or isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
        sent: dict[str, str | bytes] = {"Accept": "*/*", "User-Agent": "dataplaneapi-ctl"}
        for name, value in headers.items():
            if "\n" in value or "\r" in value:
                raise Failure(f"{name.replace('_', '-')} must be one line")
            sent[name.replace("_", "-")] = value.encode()
        if data is not None:
            sent["Content-Type"] = kind
        if authorization := self._credentials():
            sent["Authorization"] = authorization
        target = self._prefix + path + query_text(query)
        idle = self._connection.sock if self._connection else None
        if idle and select.select([idle], [], [], 0)[0]:
            # The server has closed the idle connection, as it does while somebody edits a file. A write must not be sent twice.
            self.close()
        # If the server closes the reused connection meanwhile, a GET is sent again on a new one.
        for is_reused in (True, False) if self._connection else (False,):
            connection = self._connect()
            try:
                connection.request(method, target, body=data, headers=sent)
                return connection.getresponse()
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError) as error:
                self.close()
                if not is_reused or method != "GET":
                    raise self._unreachable(error) from None
            except (OSError, http.client.HTTPException) as error:
                self.close()
                raise self._unreachable(error) from None
        raise AssertionError("one try is always made")

    def _connect(self) -> http.client.HTTPConnection:
        """Return the open connection, or a new one. Raises Failure."""
        if self._connection:
            return self._connection
        host, port = self._url.hostname or "", self._url.port
        connection: http.client.HTTPConnection
        if path := self.context.get("socket"):
            connection = _UnixConnection(path)
        elif self._url.scheme == "https":
            ca, certificate, key = (self.context.get(name) for name in ("ca", "certificate", "key"))
            try:
                tls = ssl.create_default_context(cafile=ca or None)
                if certificate:
                    check_key(key or certificate)
                    tls.load_cert_chain(certificate, key or None)
            except OSError as error:
                files = ", ".join(filter(None, (ca, certificate, key))) or "the authorities of the system"
                raise Failure(f"TLS with {files}: {error}") from None
            connection = http.client.HTTPSConnection(host, port, context=tls)
        else:
            connection = http.client.HTTPConnection(host, port)
        connection.timeout = CONNECT_SECONDS
        try:
            connection.connect()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise self._unreachable(error) from None
        connection.sock.settimeout(self.timeout)
        self._connection = connection
        return connection

    def _credentials(self) -> str:
        """Return the value of the header Authorization. Empty if the context has neither a token nor a user. May ask for the password."""
        if not self._authorization:
            if token := self.context.token():
                self._authorization = f"Bearer {token}"
            elif user := self.context.get("user"):
                import base64

                self._authorization = f"Basic {base64.b64encode(f'{user}:{self.context.password()}'.encode()).decode()}"
        return self._authorization

    def _unreachable(self, error: Exception) -> Failure:
        where = self.context.get("socket") or self.context.url
        reason = (os.strerror(error.errno) if isinstance(error, OSError) and error.errno and error.errno > 0 else "") or str(error)
        if isinstance(error, ssl.SSLError | socket.gaierror):
            reason = str(error)
        # Hints for the usual mistakes with TLS.
        hint = ""
        is_plain = not self.context.get("socket") and self.context.url.startswith("http://")
        if isinstance(error, ssl.SSLCertVerificationError):
            hint = "; set ca to the file with the authority of its certificate"
        elif getattr(error, "reason", "") in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST"):
            hint = "; does it use TLS, or is its address http://?"
        elif is_plain and isinstance(error, http.client.RemoteDisconnected | http.client.BadStatusLine | ConnectionResetError):
            hint = "; does it use TLS, so that its address is https://?"
        return Failure(f"{where} does not answer: {reason or type(error).__name__}{hint}", UNREACHABLE)


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def quote_name(text: str) -> str:
    """Quote a name for use as one segment of a path."""
    return quote(text, safe="")


def refusal(method: str, path: str, answer: Answer, credentials: str = "") -> RefusedCall:
    """Return the exception for a refused call.

    It has the message of the answer and, if `credentials` is not empty, this description of them.
    """
    try:
        body: Any = json.loads(answer.body)
        message = str(body.get("message") or body.get("error") or body)
    except (ValueError, AttributeError):
        body, message = None, answer.body[:500].decode("utf-8", "replace").strip()
    if location := answer.headers.get("location", "") if answer.status < 400 else "":
        body, message = None, f"the address redirects to {location}; use the address of the Data Plane API itself"
    call = f"{method} {path}, as {credentials}" if credentials else f"{method} {path}"
    return RefusedCall(answer.status, body, f"{answer.status} {message or http.client.responses.get(answer.status, '')} ({call})")


def query_text(query: Query | None) -> str:
    """Return a query in URL encoding, with its question mark. Parameters that are None are omitted.

    Return an empty text if no parameter is left.
    """
    sent = {key: str(value).lower() if isinstance(value, bool) else value for key, value in (query or {}).items() if value is not None}
    return f"?{urlencode(sent)}" if sent else ""


def _headers(response: http.client.HTTPResponse) -> dict[str, str]:
    return {key.lower(): value for key, value in response.getheaders()}
