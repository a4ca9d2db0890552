"""Map files (HAProxy Management Guide, section 9.3, `show map`)."""

from pathlib import Path

from native.apply.outcome import FilePlan
from native.apply.site import Site
from native.storage import names
from native.storage.plans import by_reload
from native.storage.store import Store


class MapStore(Store):
    description = "managed map file"
    created = "managed but not loaded map file (no runtime ID)"

    def name_of(self, upload: str) -> str:
        name = names.uploaded(upload)
        return name if not name or name.endswith(".map") else f"{name}.map"

    async def plan(self, site: Site, path: Path) -> FilePlan:
        return by_reload(self.used(site, path), self.references(site, path), f"HAProxy reads {path.name} at its start only")
