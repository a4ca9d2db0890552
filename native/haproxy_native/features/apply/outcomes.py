"""Whether a change that may go back by itself has stayed: by the reload that loads it, and by its confirmation."""

from collections.abc import Callable
from dataclasses import dataclass

from haproxy_native.errors import Missing
from haproxy_native.features.apply.owners import AT_WORK, Wait
from haproxy_native.reload.records import IN_PROGRESS, SUCCEEDED, Records


@dataclass(frozen=True)
class Outcomes:
    records: Records
    confirmed: Callable[[str], bool | None]

    def lasts(self, wait: Wait) -> bool | None:
        """Whether the change lasts; None while it is undecided."""
        if wait == AT_WORK:
            return None
        found = [self._is_loaded(wait.reload, wait.version)] if wait.reload else []
        found += [self.confirmed(wait.confirmation)] if wait.confirmation else []
        return False if False in found else None if None in found else True

    def _is_loaded(self, reload_id: str, version: int) -> bool | None:
        """True for a reload that is so long ago that nobody remembers it."""
        try:
            record = self.records.get(reload_id)
        except Missing:
            return True
        if record.status == IN_PROGRESS:
            return None
        if record.status != SUCCEEDED and record.keeps(version) and record.rest_reload_id:
            return self._is_loaded(record.rest_reload_id, version)
        return record.status == SUCCEEDED or record.keeps(version)
