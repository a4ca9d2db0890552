"""The context of a request: fields, such as its id and its trace, that log lines and reload records carry.

A task and a timer inherit what was set where they were started.
"""

from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType

origin: ContextVar[Mapping[str, str]] = ContextVar("origin", default=MappingProxyType({}))
