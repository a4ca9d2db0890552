"""Files of ACL patterns, and the ACLs that HAProxy has made of them (HAProxy Management Guide, section 9.3, `show acl`).

A file whose ACL is loaded changes live, as a whole or not at all.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from haproxy_native.commit.context import CommitContext
from haproxy_native.runtime import lists
from haproxy_native.runtime.commands import Step
from haproxy_native.runtime.lists import Acl, ReplacePatterns
from haproxy_native.storage import pattern_file
from haproxy_native.storage.list_store import ListStore


class AclStore(ListStore[Acl]):
    kind = "acl_file"
    description = "managed ACL file"
    created = "managed but not loaded ACL file"
    word = "an ACL"
    # HAProxy takes one command for each pattern.
    largest = 16 << 20

    async def all_loaded(self, context: CommitContext) -> Mapping[Path, Acl]:
        loaded = reversed(await lists.list_acls(context.runtime))
        return {own: acl for acl in loaded if acl.file and (own := self.own(context, acl.file))}

    def showing(self, loaded: Acl) -> str:
        return f"show acl #{loaded.id}"

    def shown(self, path: Path) -> Iterator[str]:
        return iter(pattern_file.read(self.content(path).decode("utf-8", "surrogateescape")))

    def filling(self, loaded: Acl, path: Path, content: Path) -> tuple[Step, str]:
        return ReplacePatterns(loaded.file, pattern_file.read(content.read_bytes().decode("utf-8", "surrogateescape"))), ""
