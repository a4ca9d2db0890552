"""What surrounds the SPOE files: the directories they are kept in, the configuration that reads them, the process that has loaded them."""

import uuid
from asyncio import to_thread
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from native.apply.outcome import Reason
from native.apply.site import Site
from native.config.check import check
from native.config.directories import Directory
from native.config.messages import Message
from native.errors import InUse, Refused, Unreadable
from native.spoe.references import References
from native.text.outline import Outline


@dataclass(frozen=True)
class Surroundings:
    """`storage` is for what must survive a restart, `transactions` for what is open."""

    site: Site
    directory: Directory
    storage: Path
    transactions: Path
    references: References
    outline: Outline

    async def refuse_wrong(self, file: Path, draft: Path) -> None:
        """Asks HAProxy, where the configuration reads the file, whether it would take the draft in its place. Raises Refused."""
        site = self.site
        with suppress(Unreadable):
            site.current.notice()
        if not self.references.to(site.current.document, file):
            return
        document = self.references.redirected(site.current.document, file, draft)
        configuration = await to_thread(site.current.file.draft, document.data, str(uuid.uuid4()))
        try:
            await check(configuration.checked(document), site.check)
        except Refused as error:
            raise _about(error, str(draft), str(file)) from None
        finally:
            configuration.discard()

    def reasons(self, file: Path) -> list[Reason]:
        """Why a changed file needs a reload: the lines that made the worker in service read it."""
        running = self.site.running.document or self.site.current.document
        return [found.reason(running, file.name) for found in self.references.to(running, file)]

    def refuse_in_use(self, file: Path) -> None:
        """Raises InUse while the configuration, or what still runs, reads the file."""
        with suppress(Unreadable):
            self.site.current.notice()
        for document in filter(None, (self.site.current.document, self.site.running.document)):
            for found in self.references.to(document, file):
                line = f"line {found.line(document)}: {found.text()}"
                raise InUse(f"rejecting attempt to delete file {file} referenced in haproxy conf at {line}")


def _about(error: Refused, draft: str, file: str) -> Refused:
    """The refusal with the file's own name in all that HAProxy said of its draft."""
    alerts = [
        replace(alert, text=alert.text.replace(draft, file), file=file if alert.file == draft else alert.file)
        for alert in error.alerts
        if isinstance(alert, Message)
    ]
    return Refused(error.detail.replace(draft, file), place=error.place, alerts=alerts)
