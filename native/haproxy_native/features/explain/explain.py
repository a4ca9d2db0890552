"""Explain what a configuration does with a request, by sending the request to a shadow HAProxy.

The configuration is the committed one, that of a transaction, or a text of the client. The shadow has the same rules, but its own servers.
`Explain` chooses the listener for a request (question.py), sends the request, and reports which rules applied (explanation.py).
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from haproxy_native.commit.change import Candidate
from haproxy_native.commit.current import fingerprint
from haproxy_native.editing.editor import Editor, Object
from haproxy_native.engine import Engine
from haproxy_native.errors import Missing, NativeError, NoParent, NoShadow
from haproxy_native.features.explain.explanation import CandidateServer, Explanation, UnknownEffect, explained
from haproxy_native.features.explain.question import Question, client_request, offers_http_2, other_listeners
from haproxy_native.models import model
from haproxy_native.runtime.server_state import ServerState
from haproxy_native.shadow.files import Files, stamps
from haproxy_native.shadow.process import MANY, Conditions, RequestOutcome, conditions
from haproxy_native.shadow.rewrite import FrontendListener, Shadow
from haproxy_native.shadow.shadows import MOST, ShadowClient, Shadows
from haproxy_native.shares import Account
from haproxy_native.text.document import Document
from haproxy_native.threads import LARGE, run_in_thread, run_in_thread_if

# How long states of servers are cached, in seconds.
STATES_SECONDS = 0.5
_IN_HTTP_1 = "HTTP/2: the request is sent to the shadow in HTTP/1.1"
_ELSEWHERE = "this listener may accept the request, depending on the address that the client connects to: set bind, or an address in url"


class Explain:
    """Explains requests with the shadows of one engine. Leaving the context ends the shadows."""

    def __init__(self, engine: Engine, editor: Editor) -> None:
        self._engine, self._editor = engine, editor
        self._home = engine.settings.file.parent
        self.shadows = Shadows(engine.settings.check.binary, self._home, engine.files, engine.context.find_working_directory)
        # The cache keys of the last texts that HAProxy has accepted.
        self._accepted: list[bytes] = []
        # The states of servers in the running worker, what a shadow needs of them, and when they were read, by the clock of the loop.
        self._states: list[ServerState] = []
        self._conditions: Conditions = {}
        self._states_read = -STATES_SECONDS

    async def answers(self, candidate: Candidate, questions: Sequence[Question]) -> list[Explanation]:
        """Explain what a candidate would do with each request. Raises Forbidden, BadRequest, NoShadow, Refused and CheckImpossible."""
        document, explanations = candidate.after, list[Explanation]()
        async with self.shadow_of(candidate, is_asked=True) as shadow_client:
            shadow = shadow_client.shadow
            for question in questions:
                await self._refresh_states()
                request = client_request(question, shadow.listeners)
                outcome = await shadow_client.send_request(request, self._conditions)
                work = partial(self._explain, document, shadow, question, request.listener, outcome)
                explanations.append(await run_in_thread_if(document.size > LARGE, work))
        return explanations

    @asynccontextmanager
    async def shadow_of(self, candidate: Candidate, *, is_asked: bool = False) -> AsyncIterator[ShadowClient]:
        """Yield a `ShadowClient`, which sends requests to a shadow of the candidate.

        With `is_asked`, first authorize the candidate, and let HAProxy check the text. A commit does both itself. Raises Forbidden,
        NoShadow, Refused and CheckImpossible.
        """
        document, files, author = candidate.after, candidate.files, candidate.author
        if is_asked:
            await self._engine.permit_evaluation(candidate)
        key = await run_in_thread(_cache_key, document, Path(self._engine.context.base(document)), files)
        # A shadow has only parts of the text, so it may start although HAProxy refuses the whole text. A check cannot use `files`.
        is_checked = is_asked and not files and key not in self._accepted
        checking = asyncio.create_task(self._engine.context.check_text(document, author)) if is_checked else None
        try:
            async with self.shadows.client(document, key, files, caller=Account.from_author(author)) as shadow_client:
                if checking:
                    await checking
                    self._accepted = [key, *self._accepted[: MOST - 1]]
                yield shadow_client
        except NoShadow:
            # If HAProxy refuses the text, raise the refusal instead, which explains more.
            if not files:
                await (checking or self._engine.context.check_text(document, author))
            raise
        finally:
            if checking:
                checking.cancel()

    def _explain(
        self, document: Document, shadow: Shadow, question: Question, listener: FrontendListener, outcome: RequestOutcome
    ) -> Explanation:
        explanation = explained(document, shadow, listener, outcome, has_states=bool(self._states))
        unknown = [UnknownEffect(**vars(listener.place), why=_IN_HTTP_1)] if offers_http_2(question, listener) else []
        others = other_listeners(question, listener, shadow.listeners)
        unknown += [UnknownEffect(**vars(other.place), why=_ELSEWHERE) for other in others]
        servers = self._candidate_servers(document, explanation.backend) if explanation.backend else explanation.servers
        return replace(explanation, unknown=[*unknown, *explanation.unknown], servers=servers)

    async def _refresh_states(self) -> None:
        """Read the states of servers in the running worker again if they are older than STATES_SECONDS.

        Clear the states if the worker does not answer.
        """
        now = asyncio.get_running_loop().time
        if now() > self._states_read + STATES_SECONDS:
            states: list[ServerState] = []
            with suppress(NativeError):
                states = await self._engine.context.runtime.servers()
            self._states, self._states_read = states, now()
            self._conditions = await run_in_thread_if(len(states) > MANY, conditions, states)

    def _candidate_servers(self, document: Document, backend: str) -> list[CandidateServer]:
        """Return the servers that a backend may choose, with their states in the running worker."""
        resources = [
            resource for resource in self._editor.resources.by_name.values() if resource.kind == "named" and resource.schema == "server"
        ]
        declared: list[Object] = []
        for resource, name in ((candidate, parent) for candidate in resources for parent in candidate.parents):
            with suppress(Missing, NoParent):
                declared += self._editor.list_objects(document, resource, (self._editor.resources[name], backend))
        states = {state.name: state for state in self._states if state.backend_name == backend}
        servers = []
        for object_ in declared:
            server: Any = model("server").model_validate(object_)
            state = states.get(server.name)
            is_backup = True if server.backup == "enabled" else None
            if state is None:
                word = "maint" if server.maintenance == "enabled" else None
                servers.append(CandidateServer(server.name, server.weight, is_backup, word))
                continue
            # srv_admin_state: bits of maintenance and of drain; srv_op_state: 0 is stopped. (Management Guide, "show servers state")
            word = "maint" if state.admin & 0x23 else "drain" if state.admin & 0x18 else "down" if state.operational == 0 else "up"
            servers.append(CandidateServer(server.name, state.uweight, is_backup, word))
        return servers

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """End the shadows."""
        await self.shadows.close()


def _cache_key(document: Document, home: Path, files: Files) -> bytes:
    """Return the cache key of a shadow: a hash of the text, and stamps of the files that the text may name or that `files` replaces."""
    return "\n".join([str(fingerprint(document.data)), *stamps(document, home, files)]).encode("utf-8", "surrogateescape")
