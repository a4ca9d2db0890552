"""Define `Feature` and `WriteOption`: what a feature can add to the server besides operations.

`dataplaneapi.feature_list` names the features of a server. `dataplaneapi.assembly` creates each feature once and reads its attributes. A
feature may also add observers and listeners to the context of the engine (`haproxy_native.commit`). A feature that adds only operations
needs no class.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from dataplaneapi.api.call import Call
from dataplaneapi.api.operations import Handler
from dataplaneapi.api.responses import Response
from dataplaneapi.api.services import PublicAnswer, Services, UsersOfName
from haproxy_native.operations.operations import Work
from haproxy_native.references.naming import RenameFollower


class WriteOption:
    """One or more query parameters that every write accepts. A subclass serves the writes that have one of them."""

    # The names of the parameters.
    names: ClassVar[tuple[str, ...]]

    def is_asked(self, call: Call) -> bool:
        """Return whether the call uses the option, so that `serve` must serve the call."""
        return bool(self.given(call))

    def given(self, call: Call) -> list[str]:
        """Return the names of the option's parameters that were sent with the call."""
        return [name for name in self.names if name in call.values]

    def of_commits(self, call: Call) -> list[str]:
        """Return the option's parameters in a call that may not be sent inside a transaction, but only with its commit."""
        return self.given(call)

    def check(self, call: Call) -> None:
        """Raise ApiError if the parameters of the option are invalid in this call."""

    async def serve(self, call: Call, next: Handler) -> Response:
        """Serve a write that has the option. `next` makes the write and returns its response."""
        raise NotImplementedError


@dataclass(frozen=True)
class Gauge:
    """A metric that goes up and down."""

    # Without the prefix of all metrics.
    name: str
    # The help text.
    text: str
    # The value, or one for each value of the label.
    value: float | Mapping[str, float]
    # The name of the label; empty if there is none.
    label: str = ""


class Feature:
    """A part of the server that can be removed. A subclass sets the attributes below. Its constructor gets the services."""

    # Whether only changes need the feature. A read-only server does not enter the `runs` of such a feature.
    only_changes: ClassVar[bool] = False
    # Context managers that the server enters when it starts and exits when it stops.
    runs: Sequence[AbstractAsyncContextManager[Any]] = ()
    # Functions that answer requests to public paths. They return None for any other request.
    public: Sequence[PublicAnswer] = ()
    # Query parameters that every write accepts.
    write_options: Sequence[WriteOption] = ()
    # The functions that run background operations, by the kind of operation.
    works: Mapping[str, Work] = {}
    # When an object is renamed, the followers update what the feature stores under its name.
    followers: Sequence[RenameFollower] = ()
    # Functions that return what uses the object of a name.
    users_of_names: Sequence[UsersOfName] = ()

    def gauges(self) -> Iterable[Gauge]:
        """Return the gauges for `/metrics`."""
        return ()

    def __init__(self, services: Services) -> None:
        """Create the feature. `services.features` already contains the preceding features of `dataplaneapi.feature_list`."""

    @classmethod
    def of(cls, services: Services) -> Self:
        """Return the instance of this feature on a server. Raises KeyError if the server does not have the feature."""
        feature: Self = services.features[cls]
        return feature
