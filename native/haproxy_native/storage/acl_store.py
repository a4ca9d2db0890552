"""Files of ACL patterns, and the ACLs that HAProxy has made of them (HAProxy Management Guide, section 9.3, `show acl`).

A file whose ACL is loaded changes live, as a whole or not at all.
"""

from collections.abc import Iterator, Mapping
from os.path import normpath
from pathlib import Path

from haproxy_native.runtime import acls
from haproxy_native.runtime.acls import Acl, Replace
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.commands import Step
from haproxy_native.storage import pattern_file
from haproxy_native.storage.list_store import ListStore

# How a path in the configuration may begin (HAProxy Configuration Manual, 2.7).
_PREFIXES = ("opt@", "file@", "optfile@")


class AclStore(ListStore[Acl]):
    kind = "acl_file"
    description = "managed ACL file"
    created = "managed but not loaded ACL file"
    word = "an ACL"
    # HAProxy takes one command for each pattern.
    largest = 16 << 20

    async def all_loaded(self, runtime: Runtime) -> Mapping[Path, Acl]:
        return {path_of(acl): acl for acl in reversed(await acls.loaded(runtime)) if acl.file}

    def showing(self, loaded: Acl) -> str:
        return f"show acl #{loaded.id}"

    def shown(self, path: Path) -> Iterator[str]:
        return iter(pattern_file.read(self.content(path).decode("utf-8", "surrogateescape")))

    def filling(self, loaded: Acl, path: Path, content: Path) -> tuple[Step, str]:
        return Replace(loaded.file, pattern_file.read(content.read_bytes().decode("utf-8", "surrogateescape"))), ""


def path_of(acl: Acl) -> Path:
    """Returns the path of an ACL's file."""
    file = acl.file
    for prefix in _PREFIXES:
        file = file.removeprefix(prefix)
    return Path(normpath(file))
