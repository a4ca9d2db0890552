"""The HTTP client: calls of the API over TCP, TLS or a unix socket."""

import http.client
import json
import os
import select
import socket
import ssl
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from dataplaneapi.ctl.contexts import Context, check_key, parsed_url
from dataplaneapi.ctl.failures import UNREACHABLE, Failure, RefusedCall

CONNECT_SECONDS = 10.0
# A commit may wait for the previous one, and for a reload.
ANSWER_SECONDS = 300.0
JSON, YAML, TEXT = "application/json", "application/yaml", "text/plain"

Query = Mapping[str, Any]


class Answer:
    """A response. The names in `headers` are in lower case."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    @property
    def is_success(self) -> bool:
        """Return whether the call has succeeded. A redirect is a failure: following it could send the credentials to another server."""
        return 200 <= self.status < 300 or self.status == 304

    def json(self) -> Any:
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
        self._url = parsed_url(context.url, "url")
        self._prefix = self._url.path.rstrip("/").removesuffix("/v3")
        self._authorization = ""

    def get(self, path: str, query: Query | None = None) -> Any:
        return self.ask("GET", path, query).json()

    def ask(self, method: str, path: str, query: Query | None = None, body: Any = None, kind: str = JSON, **headers: str) -> Answer:
        """Send a request and return the answer.

        `path` begins with /v3, and the caller has quoted the names in it. `kind` is the media type of the body. `headers` have underscores
        for dashes. Raises RefusedCall for an answer that is not a success, and Failure if there is no answer.
        """
        answer = self.answer(method, path, query, body, kind, **headers)
        if not answer.is_success:
            raise refused(method, path, answer, self._as() if answer.status == 401 else "")
        return answer

    def answer(self, method: str, path: str, query: Query | None = None, body: Any = None, kind: str = JSON, **headers: str) -> Answer:
        """Send a request and return the answer, whatever its status. Raises Failure if there is no answer."""
        response = self._send(method, path, query, body, kind, headers)
        try:
            data = response.read()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise self._unreachable(error) from None
        return Answer(response.status, _headers(response), data)

    def lines(self, path: str, query: Query | None = None, **headers: str) -> Iterator[str]:
        """Yield the lines of a streamed answer as they arrive. Raises Failure if the connection breaks."""
        response = self._send("GET", path, query, None, JSON, headers)
        if response.status != 200:
            raise refused("GET", path, Answer(response.status, _headers(response), response.read()))
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

    def _send(
        self, method: str, path: str, query: Query | None, body: Any, kind: str, headers: Mapping[str, str]
    ) -> http.client.HTTPResponse:
        data = body if body is None or isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
        sent: dict[str, str | bytes] = {"Accept": "*/*", "User-Agent": "dataplaneapi-ctl"}
        sent |= {name.replace("_", "-"): _line(name, value) for name, value in headers.items()}
        sent |= {"Content-Type": kind} if data is not None else {}
        sent |= {"Authorization": self._authorized()} if self._authorized() else {}
        target = self._prefix + path + query_text(query)
        idle = self._connection.sock if self._connection else None
        if idle and select.select([idle], [], [], 0)[0]:
            # The server has closed the idle connection, as it does while somebody edits a file. A write must not be sent twice.
            self.close()
        # If the server closes the reused connection meanwhile, a GET is sent again on a new one.
        for is_reused in (True, False) if self._connection else (False,):
            connection = self._connected()
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

    def _connected(self) -> http.client.HTTPConnection:
        if self._connection is None:
            connection = self._made()
            connection.timeout = CONNECT_SECONDS
            try:
                connection.connect()
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                raise self._unreachable(error) from None
            connection.sock.settimeout(self.timeout)
            self._connection = connection
        return self._connection

    def _made(self) -> http.client.HTTPConnection:
        if path := self.context.get("socket"):
            return _UnixConnection(path)
        host, port = self._url.hostname or "", self._url.port
        if self._url.scheme == "https":
            return http.client.HTTPSConnection(host, port, context=self._tls())
        return http.client.HTTPConnection(host, port)

    def _tls(self) -> ssl.SSLContext:
        ca, certificate, key = (self.context.get(name) for name in ("ca", "certificate", "key"))
        try:
            tls = ssl.create_default_context(cafile=ca or None)
            if certificate:
                check_key(key or certificate)
                tls.load_cert_chain(certificate, key or None)
        except OSError as error:
            raise Failure(
                f"TLS with {', '.join(filter(None, (ca, certificate, key))) or 'the authorities of the system'}: {error}"
            ) from None
        return tls

    def _authorized(self) -> str:
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
        return Failure(f"{where} does not answer: {reason or type(error).__name__}{self._remedy(error)}", UNREACHABLE)

    def _remedy(self, error: Exception) -> str:
        """Return a hint for the usual mistakes with TLS; empty for other errors."""
        if isinstance(error, ssl.SSLCertVerificationError):
            return "; set ca to the file with the authority of its certificate"
        if getattr(error, "reason", "") in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST"):
            return "; does it use TLS, or is its address http://?"
        is_plain = not self.context.get("socket") and self.context.url.startswith("http://")
        closes = isinstance(error, http.client.RemoteDisconnected | http.client.BadStatusLine | ConnectionResetError)
        return "; does it use TLS, so that its address is https://?" if is_plain and closes else ""

    def _as(self) -> str:
        """Describe the credentials of the calls for an error message, such as `user ci`."""
        if self.context.get("token") or self.context.get("token_file"):
            return "a token"
        if user := self.context.get("user"):
            return f"user {user}"
        return "a certificate" if self.context.get("certificate") else "nobody: no user, token or certificate is given"


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _line(name: str, value: str) -> bytes:
    """Encode the value of a header. Raises Failure if it has several lines."""
    if "\n" in value or "\r" in value:
        raise Failure(f"{name.replace('_', '-')} must be one line")
    return value.encode()


def name(text: str) -> str:
    """Quote a name for use as one segment of a path."""
    return quote(text, safe="")


def refused(method: str, path: str, answer: Answer, by: str = "") -> RefusedCall:
    """Return the failure of a refused call, with the message of its answer. `by`: the user of the call, to be added to the message."""
    try:
        body: Any = json.loads(answer.body)
        message = str(body.get("message") or body.get("error") or body)
    except (ValueError, AttributeError):
        body, message = None, answer.body[:500].decode("utf-8", "replace").strip()
    if location := answer.headers.get("location", "") if answer.status < 400 else "":
        body, message = None, f"the address redirects to {location}; use the address of the Data Plane API itself"
    call = f"{method} {path}, as {by}" if by else f"{method} {path}"
    return RefusedCall(answer.status, body, f"{answer.status} {message or http.client.responses.get(answer.status, '')} ({call})")


def query_text(query: Query | None) -> str:
    """Encode a query, with its question mark. Parameters with None are left out; an empty query is an empty text."""
    given = {key: str(value).lower() if isinstance(value, bool) else value for key, value in (query or {}).items() if value is not None}
    return f"?{urlencode(given)}" if given else ""


def _headers(response: http.client.HTTPResponse) -> dict[str, str]:
    return {key.lower(): value for key, value in response.getheaders()}
