"""Who has begun what goes on by itself, such as an operation: kept with it, so that it acts with the rights which that caller has then."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self

from haproxy_native.access.rights import Rights
from haproxy_native.errors import Forbidden
from haproxy_native.request_context import Author

# By group, as in role_of, and name: None where nothing is limited, without rules where the caller has no role or is gone.
RightsOf = Callable[[str, str], Rights | None]


@dataclass(frozen=True)
class Initiator:
    """`limited`: whether there were roles then."""

    name: str = ""
    address: str = ""
    message: str = ""
    group: str = ""
    limited: bool = False

    @classmethod
    def of_author(cls, by: Author) -> Self:
        """The author of what is being asked for."""
        return cls(by.name, by.address, by.message, by.group, by.rights is not None)

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> Self:
        return cls(**{field.name: kept[field.name] for field in fields(cls) if field.name in kept})

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def author(self, rights_of: RightsOf) -> Author:
        """Returns the author with its present rights; all rights if nobody is recorded.

        Raises Forbidden if the caller has none any more.
        """
        by = Author(self.name, self.address, message=self.message, group=self.group)
        if not by.identity and not self.limited:
            return by
        rights = rights_of(self.group, self.name)
        if rights is not None and not rights.rules:
            raise Forbidden(rights.why or f"{self.name or 'a caller without a name'}, who began this, has no role any more")
        return replace(by, rights=rights)
