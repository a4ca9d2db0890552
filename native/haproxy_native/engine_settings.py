"""What an `Engine` is opened with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from haproxy_native.check.check import CheckSettings
from haproxy_native.disk.directories import Directory


@dataclass(frozen=True)
class EngineSettings:
    """`storage` holds what must survive a restart; `watch` looks every second whether another process has edited the file.

    `before` and `after` are further files, or directories of them, that HAProxy loads around `file`; their sections can be edited, too.
    `map_sync`: seconds after which map files follow the maps in memory, again and again; 0 is never.
    With `read_only` nothing is changed, neither files nor the process; the engine's own directory is written where it finds news there.
    Transactions that nobody has used for `transaction_ttl` seconds are ended; 0 is never.
    `directories` are those of stored files, by the names of their stores (native/haproxy_native/storage/stores.py).
    """

    file: Path
    storage: Path
    before: Sequence[str] = ()
    after: Sequence[str] = ()
    transactions: Path = Path("/tmp/haproxy")
    max_open_transactions: int = 0
    transaction_ttl: float = 0.0
    backups: Path | None = None
    backups_number: int = 0
    short_header: bool = False
    check: CheckSettings = field(default_factory=CheckSettings)
    watch: bool = True
    map_sync: float = 0.0
    read_only: bool = False
    directories: Mapping[str, Directory] = field(default_factory=dict)

    @property
    def last_good(self) -> Path | None:
        """Where operators find the last known good text, as the reference keeps it; None for several files, which one cannot stand for."""
        return None if self.before or self.after else (self.backups or self.file.parent) / f"{self.file.name}.lkg"
