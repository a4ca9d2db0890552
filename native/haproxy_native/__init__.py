"""HAProxy configuration as text, grammar and transactions, and the HAProxy process behind it.

    async with haproxy_native.open("/etc/haproxy/haproxy.cfg", master="/run/haproxy-master.sock") as haproxy:
        async with haproxy.change() as change:
            change.backends["www"].servers["web1"].weight = 10

It contains no HTTP and needs no other package of the project; docs/library.md shows its use. The names of `__all__` are imported when
they are first used; their types stand in the stub beside this file.
"""

import importlib
from typing import Any

# Those that the names below raise; docs/library.md says when.
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
    "NotTaken",
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
_WHERE = {
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
__all__ = sorted(_WHERE)  # noqa: PLE0605 - the stub lists them


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_WHERE[name]}"), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, *globals()]
