"""Files for any use: error pages, Lua, lists of patterns. HAProxy reads them when it starts."""

from pathlib import Path

from haproxy_native.commit.context import CommitContext
from haproxy_native.planning.outcome import FilePlan
from haproxy_native.storage.plans import by_reload
from haproxy_native.storage.store import Store


class GeneralStore(Store):
    kind = "general"
    description = created = "managed general use file"

    async def plan(self, context: CommitContext, path: Path, content: Path | None) -> FilePlan:
        return by_reload(self.used(context, path), self.references(context, path), f"HAProxy reads {path.name} at its start only")
