"""The context of a request: fields, such as its id and its trace, that log lines and reload records carry, and the author of changes.

A task and a timer inherit what was set where they were started.
"""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType

OUTSIDE = "outside"


@dataclass(frozen=True)
class Author:
    """Who asked for a change, and why.

    `name` is that of a user, of a client certificate, or of what changes the configuration by itself, such as service discovery; OUTSIDE
    for an edit of the file itself. `address` is the client's. `message` is in the client's words.
    """

    name: str = ""
    address: str = ""
    request_id: str = ""
    message: str = ""


_NOBODY = Author()
# Fields, such as a request's id and its trace.
origin: ContextVar[Mapping[str, str]] = ContextVar("origin", default=MappingProxyType({}))
author: ContextVar[Author] = ContextVar("author", default=_NOBODY)
