"""A configuration file and the HAProxy that runs it, as Python objects. Changes are commits.

async with haproxy_native.open("/etc/haproxy/haproxy.cfg", master="/run/haproxy-master.sock") as haproxy:
    async with haproxy.change() as change:
        change.backends["www"].servers["web1"].weight = 10
    print(change.outcome)
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from haproxy_native.changes.expect import Version
from haproxy_native.changes.operations import PutDocument
from haproxy_native.check.check import CheckSettings
from haproxy_native.commit.change import Outcome, Reload
from haproxy_native.commit.commit import unchanged
from haproxy_native.disk.directories import Directory
from haproxy_native.editing.editor import Editor, standard_editor
from haproxy_native.engine import Engine, EngineSettings
from haproxy_native.errors import BadRequest, Unreadable
from haproxy_native.history.reverting import revert_outcome
from haproxy_native.objects.configuration import Configuration
from haproxy_native.objects.running import Running
from haproxy_native.objects.stored import Certificates, Maps
from haproxy_native.open_engine import Process, opened
from haproxy_native.request_context import NOBODY, Author
from haproxy_native.text.document import Document

SNAPSHOT = "this is a snapshot; change it in the block of `haproxy.change()`"
OVER = "its change is over; begin another one"


class ConfigurationChange(Configuration):
    """A configuration that is committed at the end of `async with`."""

    def __init__(self, document: Document, version: int, editor: Editor) -> None:
        super().__init__(document, editor=editor)
        # The version from which the change starts.
        self.version = version
        # None before the end of the block, and after an error in it.
        self.committed: Outcome | None = None

    @property
    def outcome(self) -> Outcome:
        """Return the outcome of the commit. Raises BadRequest before the end of the block, and after an error in the block."""
        if self.committed is None:
            raise BadRequest("the change is not committed: it has an outcome after its block, and none after an error")
        return self.committed

    def __repr__(self) -> str:
        return f"<Change of version {self.version}: {self.committed or 'not committed'}>"


class HAProxy:
    """A configuration file and the HAProxy that runs it. `engine` has everything else: transactions, raw texts, plans, stored files."""

    runtime: Running
    maps: Maps
    certificates: Certificates

    def __init__(self, engine: Engine) -> None:
        self.engine, self._editor = engine, standard_editor()
        self.runtime, self.maps, self.certificates = Running(engine), Maps(engine), Certificates(engine)

    def __repr__(self) -> str:
        return f"<HAProxy of {self.engine.settings.file}, version {self.version}>"

    @property
    def version(self) -> int:
        """Return the version of the configuration file, which every commit increments."""
        return self.engine.version()

    @property
    def configuration(self) -> Configuration:
        """Return the current configuration, read-only: an assignment raises ReadOnly."""
        return Configuration(self.engine.document, editor=self._editor, refusal=SNAPSHOT)

    @asynccontextmanager
    async def change(self, *, force_reload: bool = False, author: Author = NOBODY) -> AsyncIterator[ConfigurationChange]:
        """Yield a configuration that the block may change, and commit the change at the end of the block.

        HAProxy validates the configuration, the file is replaced, and changes are applied at runtime if possible. After an error in the
        block, nothing is committed. After the block, the `outcome` of the yielded configuration says whether the change is `live`, or has
        the `reload_id` and the `reasons` of a scheduled reload. `force_reload` waits until HAProxy has reloaded. Events name the `author`.

        Raises Refused with HAProxy's alerts, Conflict if the file has changed since the block began, BadValue for a value that cannot be
        written to the file, WriteFailed, CheckImpossible and ReloadFailed.
        """
        with suppress(Unreadable):
            await self.engine.notice()
        before = self.engine.document
        change = ConfigurationChange(before, self.engine.version(), self._editor)
        try:
            yield change
            after = change.document
            if after.data == before.data:
                change.committed = await unchanged(self.engine.context)
                return
            whole, reload = PutDocument(after), Reload.NOW if force_reload else Reload.AUTO
            change.committed = await self.engine.write([whole], Version(change.version), reload=reload, author=author)
        finally:
            change.freeze(OVER)

    async def revert(self, outcome: Outcome, *, author: Author = NOBODY) -> Outcome:
        """Revert the change that had this outcome, and keep later changes.

        Raises Conflict if a later change has changed the same members, or if the change cannot be reverted, and what `change` raises.
        """
        return await revert_outcome(self.engine, outcome, author)


@asynccontextmanager
async def open(
    file: str | Path,
    *,
    master: str | Path | None = None,
    haproxy: str = "haproxy",
    state: str | Path | None = None,
    reload_command: Sequence[str] = (),
    reload_delay: float = 5.0,
    maps: str | Path | None = None,
    certificates: str | Path | None = None,
) -> AsyncIterator[HAProxy]:
    """Open a configuration file and its HAProxy. At the end of `async with`, a scheduled reload is made. Raises Unreadable.

    `master` is the path of the master's socket (`haproxy -W -S PATH`), which reloads HAProxy and answers queries. Without `master`, queries
    use the stats sockets in the file, and `reload_command` reloads HAProxy. `haproxy` is the program that validates the file. `state` is
    the directory for data that has to survive a restart, by default the file's path with the suffix `.state`; no two programs may share
    this directory. `reload_delay` is the least number of seconds between two reloads. `maps` and `certificates` are the directories of
    maps, and of certificates with their keys. If HAProxy does not run, changes are still written to the file, and each later call tries to
    connect again.
    """
    path = Path(file)
    directory = Path(state) if state else path.with_name(f"{path.name}.state")
    given = {"maps": (maps, "maps"), "ssl_certificates": (certificates, "certificates")}
    settings = EngineSettings(
        file=path,
        storage=directory,
        transactions=directory / "transactions",
        check=CheckSettings(binary=haproxy),
        directories={store: Directory(Path(place), option) for store, (place, option) in given.items() if place},
    )
    process = Process(master=str(master) if master else None, command=reload_command, delay=reload_delay)
    async with opened(settings, process) as engine:
        yield HAProxy(engine)
