"""The caller that has started background work, such as an operation.

It is stored with the work, so that the work acts with the rights that the caller has at that moment.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self

from haproxy_native.access.rights import Rights
from haproxy_native.errors import Forbidden
from haproxy_native.request_context import Author

# Returns the current rights of a caller, given its group (as in role_of) and name: None for all rights, `Rights` without rules for no role.
RightsOf = Callable[[str, str], Rights | None]


@dataclass(frozen=True)
class Initiator:
    """The caller, as the part of an `Author` that is stored."""

    name: str = ""
    address: str = ""
    message: str = ""
    group: str = ""
    # Whether the caller had limited rights. If so, it does not get all rights, even if it has no name.
    limited: bool = False

    @classmethod
    def from_author(cls, by: Author) -> Self:
        """Return the initiator for work that an author starts."""
        return cls(by.name, by.address, by.message, by.group, by.rights is not None)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Return the initiator that `as_dict` has stored."""
        return cls(**{field.name: stored[field.name] for field in fields(cls) if field.name in stored})

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def author(self, rights_of: RightsOf) -> Author:
        """Return the author with the current rights of the caller, or with all rights if no caller is stored.

        Raises Forbidden if the caller no longer has any rights.
        """
        by = Author(self.name, self.address, message=self.message, group=self.group)
        if not by.identity and not self.limited:
            return by
        rights = rights_of(self.group, self.name)
        if rights is not None and not rights.rules:
            raise Forbidden(rights.why or f"{self.name or 'a caller without a name'}, who started this, no longer has a role")
        return replace(by, rights=rights)
