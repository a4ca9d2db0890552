"""On whose behalf something is done: fields, such as a request's id and its trace, that log lines and reload records carry along.

A task and a timer inherit what was set where they were started.
"""

from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType

origin: ContextVar[Mapping[str, str]] = ContextVar("origin", default=MappingProxyType({}))
