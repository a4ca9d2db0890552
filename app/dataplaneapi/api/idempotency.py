"""Execute a POST with an `Idempotency-Key` only once, and answer its retries with the stored response.

A client that receives no response cannot know whether its POST took effect. With a key it can send the POST again: the layer `Idempotency`
makes a call of one caller, path and key only once. `CallStore` stores calls and responses in the database for a day.

A call has these states:

- running: the call is stored without a response, and its name is in `Idempotency._running`. A retry gets 409 with Retry-After.
- answered: the call is stored with its response, which a retry gets. A retry with another body, or with other permissions than those of the
  first call, gets an error instead. So does every retry if the response is too large to store.
- refused: the response is a 4xx or a 503, so the call has done nothing. It is deleted, and the key can be used again.
- interrupted: the call is stored without a response and does not run, because the server crashed or the handler raised an exception. A
  retry gets 409 and is not made. If the history has an entry of the first request, the error names it.

The call is written before it is made, and the response before it is sent. A response with secrets is stored in memory only, so after a
restart a retry gets an error instead of the response.
"""

import asyncio
import hashlib
import json
import logging
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from python_multipart.multipart import parse_options_header
from starlette.types import Message

from dataplaneapi.api.bodies import decode, pieces
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.exchange import Exchange, Next
from dataplaneapi.api.operations import Operation
from dataplaneapi.api.responses import JSON, RETRY_AFTER, TEXT, HeaderName, Response, to_json
from haproxy_native import shares
from haproxy_native.access.rights import Rights
from haproxy_native.disk.database import Database, Result, State, Tables, Work
from haproxy_native.editing.secrets import masked_value
from haproxy_native.errors import Unusable
from haproxy_native.request_context import Author
from haproxy_native.shares import Account
from haproxy_native.threads import LARGE, run_in_thread_if

log = logging.getLogger(__name__)
SECONDS = 86400.0
# The most stored calls of one caller and of all callers. In bytes: the largest stored response body and the size of the whole store.
MOST_OF_ONE, MOST, LARGEST, MOST_BYTES = 1000, 10_000, 1 << 18, 64 << 20
# The most responses that are stored in memory only, because they contain secrets or because writing them failed.
MOST_SECRET = 100
_STATEMENTS = """\
CREATE TABLE call (name TEXT PRIMARY KEY, caller TEXT NOT NULL, began REAL NOT NULL, size INTEGER NOT NULL, data TEXT NOT NULL, body BLOB);
CREATE INDEX call_caller ON call (caller, began, size);
"""
_OLDEST_OF_ONE = "SELECT name FROM call WHERE caller = ? ORDER BY began DESC LIMIT -1 OFFSET ?"


@dataclass(frozen=True)
class StoredCall:
    """A stored call and its response."""

    # Unix time.
    began: float
    # The digest of the request body.
    request: str = ""
    # The status of the response. 0: the call is running or was interrupted.
    status: int = 0
    # The headers of the response, and the headers that list ignored parameters and members.
    headers: tuple[tuple[str, str], ...] = ()
    ignored: tuple[tuple[str, str], ...] = ()
    # The body of the response; None if it is not stored.
    body: bytes | None = None
    # The id of the request.
    id: str = ""
    # The digest of the caller's permissions.
    rights: str = ""


class CallStore:
    """The store of the calls with a key, and of their responses.

    The name of a call is `Account.holder` of its caller, a dash, and a digest of the call. If the store is full, it deletes the oldest call
    of the caller with the most calls, so that no caller can displace the calls of others.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        database.declare(Tables("calls", _STATEMENTS))
        self._database, self._clock = database, clock
        self._in_memory: dict[str, StoredCall] = {}

    async def find(self, name: str) -> StoredCall | None:
        """Return the call of this name. Return None if no such call was made during the last day. Raises Unusable if the database cannot be
        read.
        """

        def select(state: State) -> StoredCall | None:
            row = state.execute("SELECT data, body FROM call WHERE name = ?", (name,)).fetchone()
            if row is None:
                return None
            stored = json.loads(row[0])
            headers, ignored = (tuple((name, value) for name, value in stored[member]) for member in ("headers", "ignored"))
            return StoredCall(**stored | {"headers": headers, "ignored": ignored, "body": row[1]})

        stored_call = self._in_memory.get(name) or await self._run(select)
        return stored_call if stored_call and stored_call.began > self._clock() - SECONDS else None

    async def begin(self, name: str, id_: str = "") -> StoredCall:
        """Store a call that is about to be made, and wait until it is written. `id_` is the id of its request. Raises Unusable.

        Delete the calls of earlier days, and the calls beyond the limits.
        """
        call = StoredCall(self._clock(), id=id_)
        oldest = call.began - SECONDS
        self._in_memory = {each: stored_call for each, stored_call in self._in_memory.items() if stored_call.began > oldest}
        caller = _caller(name)

        def write(state: State) -> None:
            with state.transaction():
                state.execute("DELETE FROM call WHERE began <= ?", (oldest,))
                state.execute(f"DELETE FROM call WHERE name IN ({_OLDEST_OF_ONE})", (caller, MOST_OF_ONE - 1))
                number, size = state.execute("SELECT count(*), coalesce(sum(size), 0) FROM call").fetchone()
                if number >= MOST or size > MOST_BYTES:
                    stored = state.execute("SELECT caller, -began, size, name FROM call").fetchall()
                    surplus = shares.surplus(stored, MOST, MOST_BYTES, caller)
                    state.executemany("DELETE FROM call WHERE name = ?", [(each,) for each in surplus])
                _insert_call(name, call, state)

        await self._run(write)
        return call

    async def end(self, name: str, call: StoredCall, *, is_secret: bool) -> None:
        """Store the response of a call. A secret response, or a response that cannot be written, is stored in memory only."""
        is_large = len(call.body or b"") > LARGEST
        written = replace(call, body=None) if is_secret or is_large else call

        def write(state: State) -> None:
            with state.transaction():
                _insert_call(name, written, state)

        try:
            await self._database.store(write)
        except Unusable as error:
            log.warning("writing the answer to a call with an Idempotency-Key failed; the answer is lost at the next start: %s", error)
            self._store_in_memory(name, replace(call, body=None) if is_large else call)
            return
        if is_secret and not is_large:
            self._store_in_memory(name, call)

    def delete(self, name: str) -> None:
        """Delete a call that has done nothing, so that its key can be used again. Does not wait for the database."""

        def delete(state: State) -> None:
            with state.transaction():
                state.execute("DELETE FROM call WHERE name = ?", (name,))

        self._database.post(delete)

    async def _run(self, work: Work[Result]) -> Result:
        """Run work in the database before a call is made. Raises Unusable, whose message says that nothing was done."""
        try:
            return await self._database.run(work)
        except Unusable as error:
            raise Unusable(f"nothing was done: {error}") from error

    def _store_in_memory(self, name: str, call: StoredCall) -> None:
        self._in_memory[name] = call
        stored = [(_caller(each), -index, 0, each) for index, each in enumerate(self._in_memory)]
        for surplus in shares.surplus(stored, MOST_SECRET + 1, 0, _caller(name)):
            del self._in_memory[surplus]


def _caller(name: str) -> str:
    return name[: name.rindex("-")]


def _insert_call(name: str, call: StoredCall, state: State) -> None:
    data = json.dumps(asdict(replace(call, body=None)))
    row = (name, _caller(name), call.began, len(data) + len(call.body or b""), data, call.body)
    state.execute("INSERT OR REPLACE INTO call VALUES (?, ?, ?, ?, ?, ?)", row)


HEADER = b"idempotency-key"
REPLAYED = HeaderName(b"Idempotent-Replayed")
LONGEST = 255
_KEY = re.compile(rb"[\x20-\x7e]{1,%d}" % LONGEST)
_IN_HEADER = "Idempotency-Key in header"
_UNAVAILABLE = 503


class Idempotency:
    """The layer that makes each call with a key only once.

    `entry_of(request_id, since)` returns the id of the history entry that the request has created since the Unix time `since`, or None. It
    never raises an exception.
    """

    def __init__(self, store: CallStore, entry_of: Callable[[str, float], Awaitable[int | None]]) -> None:
        self._store, self._entry_of = store, entry_of
        self._running: set[str] = set()

    async def __call__(self, exchange: Exchange, next: Next) -> Response:
        """Make the call, or return its stored response. Raises ApiError (400, 409, 422) or Unusable if the call is not made."""
        key = key_of(exchange)
        if key is None:
            return await next(exchange)
        name = _call_name(exchange, key)
        if name in self._running:
            raise ApiError(409, f"{_IN_HEADER} belongs to a call that is still running; try again later", headers=[(RETRY_AFTER, b"1")])
        self._running.add(name)
        try:
            body = HashedBody(exchange, key, is_read=exchange.matched.body is not None)
            if stored_call := await self._store.find(name):
                if stored_call.status:
                    return await _replay(stored_call, body, exchange)
                if stored_call.id and (entry := await self._entry_of(stored_call.id, stored_call.began)):
                    made = f"request {stored_call.id} made entry {entry} of /v3/sidecar/history"
                    raise ApiError(409, f"{_IN_HEADER} belongs to a call that was interrupted after its {made}")
                text = "belongs to a call that was interrupted and may or may not have been made; read the object, then send another key"
                raise ApiError(409, f"{_IN_HEADER} {text}")
            return await self._make_first(name, exchange, body, next)
        finally:
            self._running.discard(name)

    async def _make_first(self, name: str, exchange: Exchange, body: "HashedBody", next: Next) -> Response:
        """Make a call for the first time, and store its response unless the response is a refusal.

        If the handler raises an exception, the outcome of the call is unknown, and the call remains stored without a response.
        """
        call = await self._store.begin(name, exchange.request_id)
        exchange.receive = body
        response = await (await next(exchange)).complete()
        status, answer = response.status_code, bytes(response.body)
        if 400 <= status < 500 or status == _UNAVAILABLE:
            self._store.delete(name)
        else:
            digest, headers, ignored = await body.digest(), _as_texts(response.raw_headers), _as_texts(exchange.ignored)
            made = StoredCall(call.began, digest, status, headers, ignored, answer, rights=rights_digest(exchange.author))
            operation = exchange.matched
            is_secret = operation.secret or await run_in_thread_if(len(answer) > LARGE, holds_secret, operation, response)
            await self._store.end(name, made, is_secret=is_secret)
        return response


def key_of(exchange: Exchange) -> bytes | None:
    """Return the key of a POST that changes something. Return None for a request without key and other calls. Raises ApiError (400)."""
    sent, operation = exchange.headers.get(HEADER), exchange.matched
    if sent is None or operation.method != "POST" or not operation.writes or operation.is_dry(exchange.query):
        return None
    if not _KEY.fullmatch(key := sent.strip()):
        raise ApiError(400, f"{_IN_HEADER} must have 1 to {LONGEST} printable ASCII characters, such as a UUID")
    return key


def rights_digest(author: Author | None) -> str:
    """Return a digest of the author's permissions, or an empty text if roles do not limit them."""
    rights = author.rights if author else None
    return hashlib.sha256(json.dumps(asdict(rights), default=sorted).encode()).hexdigest()[:16] if isinstance(rights, Rights) else ""


def _call_name(exchange: Exchange, key: bytes) -> str:
    """Return the name under which a call is stored (see `CallStore`). The digest in it covers caller, method, path with query, and key."""
    author = exchange.author
    assert author is not None
    path, query = exchange.raw_path.decode("latin-1"), exchange.query.decode("latin-1")
    call = [author.group, author.name, exchange.method, path, query, key.decode("latin-1")]
    return f"{Account.from_author(author).holder}-{hashlib.sha256(json.dumps(call).encode()).hexdigest()}"


class HashedBody:
    """An ASGI `receive` function that hashes the body that it receives.

    The idempotency key is the key of the hash, so that nobody can test guessed bodies against a stored hash. The hash omits the boundary of
    a form, which differs in each request. After the end of the body the function waits forever, so that a call with a key is not cancelled
    when the client disconnects.
    """

    def __init__(self, exchange: Exchange, key: bytes, *, is_read: bool) -> None:
        self._receive, self._is_read, self._is_complete, self._rest = exchange.receive, is_read, False, b""
        self._seconds = exchange.connection.endpoint.read_timeout
        kind, options = parse_options_header(exchange.headers.get(b"content-type", b""))
        self._boundary = options.get(b"boundary", b"")
        self._hash = hashlib.blake2b(kind + b"\0", digest_size=16, key=hashlib.sha256(key).digest())

    async def __call__(self) -> Message:
        if self._is_complete:
            await asyncio.Event().wait()
        message = await self._receive()
        if message["type"] == "http.request":
            self._hash_piece(message.get("body", b""))
            self._is_complete = not message.get("more_body")
        return message

    def _hash_piece(self, data: bytes) -> None:
        if not self._boundary:
            self._hash.update(data)
            return
        *pieces, last = (self._rest + data).split(self._boundary)
        for piece in pieces:
            self._hash.update(piece + b"\0")
        # The last bytes may be the beginning of a boundary, so they are hashed together with the next data.
        hashed = max(0, len(last) - len(self._boundary) + 1)
        self._hash.update(last[:hashed])
        self._rest = last[hashed:]

    async def digest(self) -> str:
        """Receive the rest of the body and return the digest of the whole body. Raises ApiError (400, 408).

        Return an empty text, and receive nothing, if the operation has no body.
        """
        if not self._is_read:
            return ""
        if not self._is_complete:
            async for _ in pieces(self, 0, self._seconds):
                pass
        whole = self._hash.copy()
        whole.update(self._rest)
        return whole.hexdigest()


def holds_secret(operation: Operation, response: Response) -> bool:
    """Return whether the response contains a secret, which is masked for callers that may not see secrets."""
    kind = response.content_type
    if kind not in (JSON, TEXT):
        return False
    body, schema = bytes(response.body), operation.answer(response.status_code, kind.decode())
    if kind == JSON:
        return to_json(masked_value(decode(body), schema)) != body
    return str(masked_value(body.decode("utf-8", "surrogateescape"), schema)).encode("utf-8", "surrogateescape") != body


async def _replay(stored_call: StoredCall, body: HashedBody, exchange: Exchange) -> Response:
    """Return the stored response of an earlier call to its retry. Raises ApiError (409, 422) if the retry must not get the response."""
    if await body.digest() != stored_call.request:
        raise ApiError(422, f"{_IN_HEADER} was already sent with another body; nothing was done. Send another key")
    if stored_call.rights != rights_digest(exchange.author):
        text = (
            f"belongs to a call that was answered with {stored_call.status}; your permissions have changed, so the answer is not repeated"
        )
        raise ApiError(409, f"{_IN_HEADER} {text}")
    if stored_call.body is None:
        text = f"belongs to a call that was answered with {stored_call.status}; the answer was secret or too large to store"
        raise ApiError(409, f"{_IN_HEADER} {text}")
    exchange.ignored, exchange.is_replayed = _as_headers(stored_call.ignored), True
    response = Response(stored_call.status)
    response.body, response.raw_headers = stored_call.body, [*_as_headers(stored_call.headers), (REPLAYED, b"true")]
    return response


def _as_texts(headers: Any) -> tuple[tuple[str, str], ...]:
    return tuple((bytes(name).decode("latin-1"), value.decode("latin-1")) for name, value in headers)


def _as_headers(headers: tuple[tuple[str, str], ...]) -> list[tuple[bytes, bytes]]:
    return [(HeaderName(name.encode("latin-1")), value.encode("latin-1")) for name, value in headers]
