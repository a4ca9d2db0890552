# Generated from the modules of this package by `make generate`; do not edit.

from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import AbstractContextManager
from haproxy_native.commit.change import Outcome
from haproxy_native.models.stick_table_entry import StickTableEntry
from haproxy_native.objects.configuration import Configuration
from haproxy_native.objects.haproxy import ConfigurationChange
from haproxy_native.request_context import Author
from haproxy_native.request_context import NOBODY
from haproxy_native.runtime.lists import MapEntry
from haproxy_native.runtime.server_state import ServerState
from haproxy_native.runtime.stick_tables import Table
from haproxy_native.storage.certificate import CertificateFile
from pathlib import Path
from typing import Literal

class StickTable:
    """A stick table. Its name is that of the section that declares it, or `PEERS/TABLE` for a table in a peers section."""

    def about(self) -> Table:
        """Return the table's type, its size and how many entries are used. Raises NotFound if HAProxy has no such table."""
        ...

    def entries(self, key: str | None=None) -> list[StickTableEntry]:
        """Return all entries, or only the entry of `key`. `exp` is in milliseconds; rates are per period of the table. Raises BadValue."""
        ...

    def set(self, key: str, **data: int) -> None:
        """Set data of a key, such as `gpc0=1`, and create the entry if it is missing. Raises BadValue and NotFound."""
        ...

    def clear(self, key: str) -> None:
        """Delete the entry of a key, if there is one."""
        ...

class StickTables:
    """The stick tables by name, such as `tables["www"]`."""

    def __getitem__(self, name: str) -> StickTable:
        ...

    def all(self) -> Sequence[Table]:
        """Return every table with its type, size and use."""
        ...

class Server:
    """A server of a backend in the running process. Changes do not affect the server's line in the file."""

    def state(self) -> ServerState:
        """Return the server's state in the process. Raises NotFound."""
        ...

    def drain(self, *, author: Author=NOBODY) -> Outcome:
        """Drain the server: it gets no new clients, except by a cookie or a stick table. Raises NotFound and Forbidden."""
        ...

    def maintain(self, *, author: Author=NOBODY) -> Outcome:
        """Put the server into maintenance: it gets no traffic and no health checks. Raises NotFound and Forbidden."""
        ...

    def ready(self, *, author: Author=NOBODY) -> Outcome:
        """Make the server ready again after `drain` or `maintain`. Raises NotFound and Forbidden."""
        ...

    def set(self, *, weight: int | None=None, admin_state: Literal['ready', 'drain', 'maint'] | None=None, address: str | None=None, port: int | None=None, operational_state: Literal['up', 'stopping', 'down'] | None=None, author: Author=NOBODY) -> Outcome:
        """Set the values that are not None, all or none of them. Weights are 0 to 256. Raises NotFound, BadValue and Forbidden."""
        ...

class Running:
    """The worker in service. `engine.runtime` sends any other command."""
    stick_tables: StickTables

    def server(self, backend: str, name: str) -> Server:
        """Return the object for a server. Does not check that the server exists."""
        ...

    def servers(self, backend: str) -> Sequence[ServerState]:
        """Return the servers of a backend in the worker's order. Raises RuntimeRefused if the worker does not have the backend."""
        ...

class Files:
    """The stored files in one directory, by name."""

    def names(self) -> Sequence[str]:
        """Return the names of the files, sorted. Raises Unusable."""
        ...

    def put(self, name: str, content: str | bytes, *, force_reload: bool=False, author: Author=NOBODY) -> Outcome:
        """Create a file, or replace the file if it exists.

        Raises BadRequest and RefusedAtRuntime for content that cannot be used, Forbidden, Conflict, WriteFailed, ReloadFailed and Unusable.
        """
        ...

    def delete(self, name: str, *, author: Author=NOBODY) -> Outcome:
        """Delete a file. Raises Missing, InUse if the configuration refers to it, Forbidden, Conflict, WriteFailed and Unusable."""
        ...

class Map:
    """A map. `name` is the name of its file, or the number or path that HAProxy prints.

    With `lasting=False`, a change is made only in the process, and lasts until HAProxy's next reload. The map may then be outside the
    directory.
    Calls raise RuntimeAbsent, RuntimeRefused, NotFound and Unusable. Changes also raise Forbidden and Conflict; lasting changes also raise
    BadRequest for a map outside the directory, RefusedAtRuntime and WriteFailed.
    """

    def entries(self) -> Sequence[MapEntry]:
        """Return the entries that HAProxy has, in their order."""
        ...

    def get(self, key: str) -> str | None:
        """Return the value of the first entry with exactly this key; None if no entry has the key."""
        ...

    def set(self, key: str, value: str, *, lasting: bool=True, author: Author=NOBODY) -> Outcome:
        """Set the value of a key, and add the entry if it is missing. Raises BadValue."""
        ...

    def delete(self, key: str, *, lasting: bool=True, author: Author=NOBODY) -> Outcome:
        """Delete the entries of a key."""
        ...

    def fill(self, entries: Mapping[str, str], *, lasting: bool=True, author: Author=NOBODY) -> Outcome:
        """Replace the content of the map with `entries`, in their order. Raises BadValue."""
        ...

class Maps(Files):
    """The maps, such as `maps["hosts.map"]`."""

    def __getitem__(self, name: str) -> Map:
        ...

class Certificates(Files):
    """The certificates, each with its key in one PEM file."""

    def read(self, name: str) -> CertificateFile:
        """Return the parsed certificates of a file, for example to read `expires`. Raises Missing, BadRequest and Unusable."""
        ...

class HAProxy:
    """A configuration file and the HAProxy that runs it. `engine` has everything else: transactions, raw texts, plans, stored files."""
    runtime: Running
    maps: Maps
    certificates: Certificates

    @property
    def version(self) -> int:
        """Return the version of the configuration file, which every commit increments."""
        ...

    @property
    def configuration(self) -> Configuration:
        """Return the current configuration, read-only: an assignment raises ReadOnly."""
        ...

    def change(self, *, force_reload: bool=False, author: Author=NOBODY) -> AbstractContextManager[ConfigurationChange]:
        """Yield a configuration that the block may change, and commit the change at the end of the block.

        HAProxy validates the configuration, the file is replaced, and changes are applied at runtime if possible. After an error in the
        block, nothing is committed. After the block, the `outcome` of the yielded configuration says whether the change is `live`, or has
        the `reload_id` and the `reasons` of a scheduled reload. `force_reload` waits until HAProxy has reloaded. Events name the `author`.

        Raises Refused with HAProxy's alerts, Conflict if the file has changed since the block began, BadValue for a value that cannot be
        written to the file, WriteFailed, CheckImpossible and ReloadFailed.
        """
        ...

    def revert(self, outcome: Outcome, *, author: Author=NOBODY) -> Outcome:
        """Revert the change that had this outcome, and keep later changes.

        Raises Conflict if a later change has changed the same members, or if the change cannot be reverted, and what `change` raises.
        """
        ...

def open_sync(file: str | Path, *, master: str | Path | None=None, haproxy: str='haproxy', state: str | Path | None=None, reload_command: Sequence[str]=(), reload_delay: float=5.0, maps: str | Path | None=None, certificates: str | Path | None=None) -> AbstractContextManager[HAProxy]:
    """Open a configuration file and its HAProxy. At the end of `with`, a scheduled reload is made. Raises Unreadable.

    `master` is the path of the master's socket (`haproxy -W -S PATH`), which reloads HAProxy and answers queries. Without `master`, queries
    use the stats sockets in the file, and `reload_command` reloads HAProxy. `haproxy` is the program that validates the file. `state` is
    the directory for data that has to survive a restart, by default the file's path with the suffix `.state`; no two programs may share
    this directory. `reload_delay` is the least number of seconds between two reloads. `maps` and `certificates` are the directories of
    maps, and of certificates with their keys. If HAProxy does not run, changes are still written to the file, and each later call tries to
    connect again.
    """
    ...
