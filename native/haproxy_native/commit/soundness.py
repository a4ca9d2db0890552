"""Whether HAProxy accepts the file as it is, remembered by the text and the program: cheap enough to be asked every second.

A text that was committed has been checked; any other (at start, after an edit by hand) is checked once. A refusal is checked again
after a while, since it may be about files beside the configuration.
"""

import asyncio
import shutil
import time
from contextlib import suppress

from haproxy_native.check.check import check
from haproxy_native.commit.context import CommitContext
from haproxy_native.disk.stamp import Stamp, stamp
from haproxy_native.errors import BadRequest, NativeError

RETRY_SECONDS = 10.0
# Text, path of the program, its inode and the time of its last change.
Key = tuple[str, str, Stamp | None]


class Soundness:
    def __init__(self, context: CommitContext) -> None:
        self._context = context
        self._key: Key | None = None
        self._trouble, self._since = "", 0.0
        self._work: asyncio.Task[None] | None = None

    async def trouble(self, seconds: float) -> str:
        """Why no change of the file would be accepted; empty where one would be, or while that is not known after so many `seconds`."""
        try:
            key = self._current_key()
        except (BadRequest, OSError) as error:
            return str(error)
        if self._work is None and self._is_stale(key):
            self._work = asyncio.create_task(self._check(key))
        if self._work:
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(self._work), seconds)
        return self._trouble

    def _current_key(self) -> Key:
        """Raises BadRequest and OSError for a program that cannot be run."""
        program = self._context.check.words([""])[0]
        path = shutil.which(program)
        if path is None:
            raise BadRequest(f'HAProxy cannot be asked about a change: "{program}" is no program that can be run')
        return self._context.current.fingerprint, path, stamp(path)

    def _is_stale(self, key: Key) -> bool:
        if key != self._key and key[0] == self._context.accepted and (self._key is None or key[1:] == self._key[1:]):
            self._key, self._trouble = key, ""
        return key != self._key or bool(self._trouble and time.monotonic() - self._since > RETRY_SECONDS)

    async def _check(self, key: Key) -> None:
        trouble, context = "", self._context
        try:
            await check(context.current.file.checked(context.current.document), context.check)
        except NativeError as error:
            trouble = str(error)
        finally:
            self._work = None
        self._key, self._trouble, self._since = key, trouble, time.monotonic()
