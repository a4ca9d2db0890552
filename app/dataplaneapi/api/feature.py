"""`Feature`: what a feature adds to the server besides its operations.

`dataplaneapi.feature_list` names the features of a server. `dataplaneapi.assembly` creates each feature and reads the attributes below
once. A feature may also add observers and listeners to the engine's context (`haproxy_native.commit`). A feature that has only operations
needs no class.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, ClassVar, Self

from dataplaneapi.api.call import Call
from dataplaneapi.api.operations import Handler
from dataplaneapi.api.responses import Response
from dataplaneapi.api.services import PublicAnswer, Services, UsersOfName
from haproxy_native.operations.operations import Work
from haproxy_native.references.naming import RenameFollower


class WriteOption:
    """Query parameters that every write accepts. A subclass serves the writes that have one of them."""

    # The names of the parameters.
    names: ClassVar[tuple[str, ...]]

    def is_asked(self, call: Call) -> bool:
        """Return whether a call is to be served by `serve`."""
        return bool(self.given(call))

    def given(self, call: Call) -> list[str]:
        """Return the names of the parameters that a call has."""
        return [name for name in self.names if name in call.values]

    def of_commits(self, call: Call) -> list[str]:
        """Return the parameters that a call within a transaction must not have, since they belong to its commit."""
        return self.given(call)

    def check(self, call: Call) -> None:
        """Refuse a call with invalid parameters. Raises ApiError."""

    async def serve(self, call: Call, next: Handler) -> Response:
        """Serve a write that has the option. `next` makes the write and returns its response."""
        raise NotImplementedError


class Feature:
    """A part of the server that can be removed. A subclass creates what it needs from the services, and sets the attributes below."""

    # Whether only changes need the feature, so that a read-only server does not enter its `runs`.
    only_changes: ClassVar[bool] = False
    # Context managers that are entered when the server starts, and left when it ends.
    runs: Sequence[AbstractAsyncContextManager[Any]] = ()
    # Functions that answer requests to public paths, and return None for any other request.
    public: Sequence[PublicAnswer] = ()
    # Query parameters of every write.
    write_options: Sequence[WriteOption] = ()
    # The functions that do the work of long operations, by kind.
    works: Mapping[str, Work] = {}
    # Followers update what is stored under the name of an object when it is renamed. The functions list what uses an object of a name.
    followers: Sequence[RenameFollower] = ()
    users_of_names: Sequence[UsersOfName] = ()

    def gauges(self) -> Iterable[tuple[str, str, float]]:
        """Return the gauges for `/metrics`: name without prefix, help text, value."""
        return ()

    def __init__(self, services: Services) -> None:
        """Create the feature. `services.features` already has the features that are listed before it."""

    @classmethod
    def of(cls, services: Services) -> Self:
        """Return this feature of a server. Raises KeyError if the server does not have it."""
        feature: Self = services.features[cls]
        return feature
