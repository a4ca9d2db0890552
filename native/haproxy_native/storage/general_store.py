"""Files for any use: error pages, Lua, lists of patterns. HAProxy reads them when it starts."""

from pathlib import Path

from haproxy_native.commit.context import CommitContext
from haproxy_native.editing.object_names import parsed, spelled
from haproxy_native.planning.outcome import FilePlan
from haproxy_native.runtime.ssl_files import CA_FILES, CRL_FILES
from haproxy_native.storage import ssl_shown
from haproxy_native.storage.acl_store import AclStore
from haproxy_native.storage.map_store import MapStore
from haproxy_native.storage.plans import by_reload
from haproxy_native.storage.store import Store


class GeneralStore(Store):
    kind = "general"
    description = created = "managed general use file"

    async def differing(self, context: CommitContext) -> list[tuple[str, str, str]]:
        """Of authorities and revocation lists, of maps and of lists of patterns: HAProxy shows nothing of other files."""
        found = [each for kind in (CA_FILES, CRL_FILES) for each in await ssl_shown.differing(context, self, kind)]
        for lists in (MapStore, AclStore):
            rows = await lists(self.name, self._kept, self.state).differing(context)
            found += [(spelled(self.kind, parsed(object_)[1]), held, worker) for object_, held, worker in rows]
        return found

    async def plan(self, context: CommitContext, path: Path, content: Path | None) -> FilePlan:
        return by_reload(self.used(context, path), self.references(context, path), f"HAProxy reads {path.name} at its start only")
