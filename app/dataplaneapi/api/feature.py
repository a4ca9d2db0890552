"""What a feature can take part in (`dataplaneapi.features`)."""

from types import TracebackType
from typing import ClassVar, Self

from dataplaneapi.api.call import Call
from dataplaneapi.api.operations import Handler
from dataplaneapi.api.responses import Response
from dataplaneapi.api.services import Services


class Feature:
    """A part of the server that can be removed. A subclass makes what it needs of the services, and joins what it takes part in:

    `services.engine.context.observers` (commits and reloads), `.events` (what was done), `services.write_options` (parameters of every
    write), `services.operations` (work that outlives its request), `services.naming` (names), `services.kinds` (what the history reverts).
    It is a context manager for as long as the server runs.
    """

    # Whether it only makes changes: a server that is read-only does not start it.
    only_changes: ClassVar[bool] = False

    def __init__(self, services: Services) -> None:
        self.services = services

    @classmethod
    def of(cls, services: Services) -> Self:
        """Return the feature of a server that has it. Raises KeyError."""
        feature = services.features[cls]
        assert isinstance(feature, cls)
        return feature

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Stop what was started."""


class WriteOption:
    """Parameters of every write, by their names; a subclass says what is done for them."""

    names: ClassVar[tuple[str, ...]]

    def is_asked(self, call: Call) -> bool:
        """Return whether `serve` is to be called."""
        return any(name in call.values for name in self.names)

    def check(self, call: Call) -> None:
        """Refuse a call whose parameters are not in order. Raises ApiError."""

    async def serve(self, call: Call, next: Handler) -> Response:
        """Serve a write that asks for it."""
        raise NotImplementedError
