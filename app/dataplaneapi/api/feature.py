"""What a feature can take part in (`dataplaneapi.features`)."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, ClassVar, Self

from dataplaneapi.api.call import Call
from dataplaneapi.api.operations import Handler
from dataplaneapi.api.responses import Response
from dataplaneapi.api.services import PublicAnswer, Services, UsersOfName
from haproxy_native.operations.operations import Work
from haproxy_native.references.naming import Follower


class WriteOption:
    """Parameters of every write, by their names; a subclass says what is done for them."""

    names: ClassVar[tuple[str, ...]]

    def is_asked(self, call: Call) -> bool:
        """Return whether `serve` is to be called."""
        return bool(self.given(call))

    def given(self, call: Call) -> list[str]:
        """Return the names of those that a call gives."""
        return [name for name in self.names if name in call.values]

    def of_commits(self, call: Call) -> list[str]:
        """Return those that a call within a transaction may not give, since they belong to its commit."""
        return self.given(call)

    def check(self, call: Call) -> None:
        """Refuse a call whose parameters are not in order. Raises ApiError."""

    async def serve(self, call: Call, next: Handler) -> Response:
        """Serve a write that asks for it."""
        raise NotImplementedError


class Feature:
    """A part of the server that can be removed. A subclass makes what it needs of the services, and says below what of it takes part.

    Beside that it may join the observers and the events of the engine's context (`haproxy_native.commit`).
    """

    # Whether it only makes changes: a server that is read-only does not start it.
    only_changes: ClassVar[bool] = False
    # What works for as long as the server runs.
    runs: Sequence[AbstractAsyncContextManager[Any]] = ()
    # What answers a request without credentials, or returns None.
    public: Sequence[PublicAnswer] = ()
    # Parameters of every write.
    write_options: Sequence[WriteOption] = ()
    # Works that outlive their request, by kind.
    works: Mapping[str, Work] = {}
    # What keeps something of objects by their names, and what uses them by these.
    followers: Sequence[Follower] = ()
    users_of_names: Sequence[UsersOfName] = ()

    def __init__(self, services: Services) -> None:
        """`services` has the features before this one."""

    @classmethod
    def of(cls, services: Services) -> Self:
        """Return the feature of a server that has it. Raises KeyError."""
        feature: Self = services.features[cls]
        return feature
