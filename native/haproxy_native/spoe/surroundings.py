"""The context of SPOE files: their directories, the configuration that reads them, and the process that has loaded them."""

import uuid
from asyncio import to_thread
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from haproxy_native.check.messages import Message
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.ledger import WAITING
from haproxy_native.disk.directories import Directory
from haproxy_native.errors import InUse, NativeError, Refused, Unreadable, WriteFailed
from haproxy_native.planning.outcome import Reason
from haproxy_native.spoe.references import References
from haproxy_native.text.document import Document
from haproxy_native.text.outline import Outline

# Their kind in the ledger.
STORE = "spoe"


@dataclass(frozen=True)
class Surroundings:
    """`storage` is for what must survive a restart, `transactions` for what is open."""

    context: CommitContext
    directory: Directory
    storage: Path
    transactions: Path
    references: References
    outline: Outline

    async def refuse_wrong(self, file: Path, draft: Path) -> Document:
        """Asks HAProxy, where the configuration reads the file, whether it would take the draft in its place. Raises Refused.

        The configuration that was asked about: the answer holds as long as that is current.
        """
        context = self.context
        with suppress(Unreadable):
            await context.current.notice_aside()
        asked = context.current.document
        if not self.references.to(asked, file):
            return asked
        document = self.references.redirected(asked, file, draft)
        configuration = await to_thread(context.current.file.draft, document, str(uuid.uuid4()))
        try:
            await context.current.unless_overtaken(context.ask_haproxy(configuration.checked(document)))
            return asked
        except Refused as error:
            raise _about(error, str(draft), str(file)) from None
        finally:
            configuration.discard()

    async def install(self, file: Path, install: Callable[[], Awaitable[None]], reasons: Sequence[Reason]) -> None:
        """Makes the file what it is to be; what the worker has read is kept until it has read that, or put back with a failed reload."""
        self.context.note_published(file)
        stored = self.context.ledger
        if not self.references.to(self.running, file):
            await install()
            return
        await to_thread(stored.begin, {file: STORE})
        try:
            await install()
        except NativeError:
            with suppress(WriteFailed):
                await to_thread(stored.undo, file)
            raise
        if reasons:
            await to_thread(stored.owe, [file], WAITING)
        else:
            await to_thread(stored.in_step, file)

    @property
    def running(self) -> Document:
        """The configuration that the worker has loaded, or the current one while that is unknown."""
        return self.context.running.document or self.context.current.document

    def reasons(self, file: Path) -> list[Reason]:
        """Why a changed file needs a reload: the lines that made the worker read it, or will with the reload that is pending."""
        for document in (self.running, self.context.current.document) if self.context.pending else (self.running,):
            if references := self.references.to(document, file):
                return [reference.reason(document, file.name) for reference in references]
        return []

    def waits(self, file: Path) -> bool:
        """Whether a reload is to tell the worker of an earlier change."""
        return str(file) in self.context.ledger.entries

    async def refuse_in_use(self, file: Path) -> None:
        """Raises InUse while the configuration, or what still runs, reads the file."""
        with suppress(Unreadable):
            await self.context.current.notice_aside()
        for document in filter(None, (self.context.current.document, self.context.running.document)):
            for reference in self.references.to(document, file):
                line = f"line {reference.line(document)}: {reference.text()}"
                raise InUse(f"rejecting attempt to delete file {file} referenced in haproxy conf at {line}")


def _about(error: Refused, draft: str, file: str) -> Refused:
    """The refusal with the file's own name in all that HAProxy said of its draft."""

    def named(text: str | None) -> str | None:
        return text and text.replace(draft, file)

    messages = [alert for alert in error.alerts if isinstance(alert, Message)]
    alerts = [
        replace(message, text=message.text.replace(draft, file), file=named(message.file), source=named(message.source))
        for message in messages
    ]
    detail = error.detail.replace(draft, file).replace(f" of {PurePath(draft).name}", f" of {PurePath(file).name}", 1)
    return Refused(detail, place=error.place, alerts=alerts)
