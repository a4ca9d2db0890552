"""Files of ACL patterns, and the ACLs that HAProxy has made of them (HAProxy Management Guide, section 9.3, `show acl`).

A file whose ACL is loaded changes live, as a whole or not at all.
"""

import asyncio
from os.path import normpath
from pathlib import Path

from haproxy_native.commit.context import CommitContext
from haproxy_native.errors import RuntimeFailure
from haproxy_native.planning.outcome import FilePlan
from haproxy_native.runtime import acls
from haproxy_native.runtime.acls import Acl, Replace
from haproxy_native.runtime.client import Runtime
from haproxy_native.storage import pattern_file
from haproxy_native.storage.plans import of_map
from haproxy_native.storage.store import Store

# Beyond, a reload is quicker: HAProxy takes one command for each pattern. In bytes.
LARGEST = 16 << 20
# How a path in the configuration may begin (HAProxy Configuration Manual, 2.7).
_PREFIXES = ("opt@", "file@", "optfile@")


class AclStore(Store):
    description = "managed ACL file"
    created = "managed but not loaded ACL file"

    async def plan(self, context: CommitContext, path: Path, content: Path | None) -> FilePlan:
        used, wanted = self.used(context, path), self.references(context, path)
        try:
            found = await self.loaded(context.runtime, path)
        except RuntimeFailure as error:
            return of_map(used, wanted, None, f"it is not known whether HAProxy has loaded {path.name}: {error}")
        if found is None:
            return of_map(used, wanted, None, f"HAProxy has not loaded {path.name} as an ACL")
        patterns, why = await asyncio.to_thread(_patterns, content) if content else ([], f"HAProxy still has {path.name} loaded")
        return of_map(used, wanted, Replace(found.file, patterns), why)

    async def loaded(self, runtime: Runtime, path: Path) -> Acl | None:
        """The ACL that the worker has made of a file. Raises RuntimeFailure."""
        return next((each for each in await acls.loaded(runtime) if each.file and path_of(each) == path), None)


def _patterns(content: Path) -> tuple[list[str], str]:
    """Those of a file, and why they cannot be sent to HAProxy."""
    size = content.stat().st_size
    if size > LARGEST:
        return [], f"{size} bytes are quicker loaded than sent"
    return pattern_file.read(content.read_bytes().decode("utf-8", "surrogateescape")), ""


def path_of(acl: Acl) -> Path:
    """Of the file of an ACL that has one."""
    file = acl.file
    for prefix in _PREFIXES:
        file = file.removeprefix(prefix)
    return Path(normpath(file))
