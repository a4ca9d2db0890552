"""Read and change an HAProxy configuration, and apply the changes to the HAProxy process that runs it.

    async with haproxy_native.open("/etc/haproxy/haproxy.cfg", master="/run/haproxy-master.sock") as haproxy:
        async with haproxy.change() as change:
            change.backends["www"].servers["web1"].weight = 10

The package depends on no other package of the project. docs/library.md shows how to use it. Each name of `__all__` is imported on first
use; the types of the names are in `__init__.pyi`.
"""

import importlib
from typing import Any

# The public exceptions. docs/library.md says when each is raised.
_ERRORS = (
    "BadRequest",
    "BadValue",
    "CheckImpossible",
    "Conflict",
    "Exists",
    "Forbidden",
    "InUse",
    "Missing",
    "NativeError",
    "NoSuchObject",
    "NotFound",
    "RefusedAtRuntime",
    "ReadOnly",
    "Refused",
    "ReloadFailed",
    "RuntimeAbsent",
    "RuntimeRefused",
    "UnknownMember",
    "Unreadable",
    "Unusable",
    "WriteFailed",
)
# The module that defines each public name.
_MODULES = {
    **dict.fromkeys(_ERRORS, "errors"),
    "Configuration": "objects.configuration",
    "ConfigurationChange": "objects.haproxy",
    "Document": "text.document",
    "Editor": "editing.editor",
    "Engine": "engine",
    "EngineSettings": "engine",
    "HAProxy": "objects.haproxy",
    "Outcome": "commit.change",
    "Process": "open_engine",
    "open": "objects.haproxy",
    "open_sync": "objects.blocking",
    "opened": "open_engine",
    "parse": "objects.configuration",
}
__all__ = sorted(_MODULES)  # noqa: PLE0605 - the stub lists them


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, *globals()]
