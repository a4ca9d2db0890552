"""`Feature`: what a feature takes part in, besides its operations.

`dataplaneapi.feature_list` names the features of a server, and `dataplaneapi.assembly` makes each and reads the attributes below once. A
feature may also add observers and listeners to the engine's context (`haproxy_native.commit`). One that has operations alone needs no
class.
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
    """Query parameters of every write. A subclass serves the writes that have one."""

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
        """Serve a write; `next` makes it."""
        raise NotImplementedError


class Feature:
    """A part of the server that can be removed. A subclass makes what it needs from the services, and sets the attributes below."""

    # Whether it is for changes alone, so that a read-only server does not run it.
    only_changes: ClassVar[bool] = False
    # Entered when the server starts, and left when it ends.
    runs: Sequence[AbstractAsyncContextManager[Any]] = ()
    # Each answers requests without credentials, or returns None.
    public: Sequence[PublicAnswer] = ()
    # Query parameters of every write.
    write_options: Sequence[WriteOption] = ()
    # The work of long operations, by kind.
    works: Mapping[str, Work] = {}
    # Who stores something by the names of objects and follows a renaming, and who uses objects by their names.
    followers: Sequence[RenameFollower] = ()
    users_of_names: Sequence[UsersOfName] = ()

    def gauges(self) -> Iterable[tuple[str, str, float]]:
        """Return what `/metrics` shows: the name of each value without prefix, what it says, and the value."""
        return ()

    def __init__(self, services: Services) -> None:
        """Make the feature. `services.features` has those that are listed before it."""

    @classmethod
    def of(cls, services: Services) -> Self:
        """Return this feature of a server. Raises KeyError if the server does not have it."""
        feature: Self = services.features[cls]
        return feature
