"""The caller that has started background work, such as an operation.

The caller is stored with the work. Each step of the work is authorized by the rights that the caller has when the step is made, not by the
rights that the caller had when the work was started.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self

from haproxy_native.access.rights import Rights
from haproxy_native.errors import Forbidden
from haproxy_native.request_context import Author

# Returns the current rights of a caller, identified by its group (as in `Author.group`) and name. None means all rights. `Rights` without
# rules means that the caller has no role.
RightsOf = Callable[[str, str], Rights | None]


@dataclass(frozen=True)
class Initiator:
    """The fields of an `Author` that are stored with background work."""

    name: str = ""
    address: str = ""
    message: str = ""
    group: str = ""
    # Whether the caller had limited rights. Such a caller never gets all rights, even if it has no name.
    limited: bool = False

    @classmethod
    def from_author(cls, author: Author) -> Self:
        return cls(author.name, author.address, author.message, author.group, author.rights is not None)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Return the initiator that `as_dict` has stored."""
        return cls(**{field.name: stored[field.name] for field in fields(cls) if field.name in stored})

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def author(self, rights_of: RightsOf) -> Author:
        """Return the author with the current rights of the caller. If no caller is stored, return an author with all rights.

        Raises Forbidden if the caller no longer has any rights.
        """
        author = Author(self.name, self.address, message=self.message, group=self.group)
        if not author.identity and not self.limited:
            return author
        rights = rights_of(self.group, self.name)
        if rights is not None and not rights.rules:
            raise Forbidden(rights.why or f"{self.name or 'a caller without a name'}, who started this, no longer has a role")
        return replace(author, rights=rights)
