"""The crt-lists in HAProxy's memory: entries read, added and deleted (HAProxy Management Guide, section 9.3).

HAProxy appends what is added; an entry is deleted by its certificate and, where that has several, by the number it is shown with.
"""

import re
from collections.abc import Sequence

from haproxy_native.errors import BadValue
from haproxy_native.runtime import responses as answers
from haproxy_native.runtime import ssl_files
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.responses import refused
from haproxy_native.runtime.ssl_files import CrtListRow

_ADDED = re.compile(r"^Success!\s*\Z", re.MULTILINE)
_DELETED = re.compile(r"^Entry .* deleted in crtlist ", re.MULTILINE)
_UNFIT = re.compile(r"[\r\n\0]")


async def names(runtime: Runtime) -> list[str]:
    return ssl_files.lists(await runtime.send("show ssl crt-list"))


async def entries(runtime: Runtime, name: str) -> list[CrtListRow]:
    """Returns the entries in their order. Raises RuntimeRefused."""
    return ssl_files.entries(await runtime.read(f"show ssl crt-list -n {argument(name)}", "# "))


async def add(runtime: Runtime, name: str, file: str, options: str = "", filters: Sequence[str] = ()) -> None:
    """The certificate has to be in memory. Raises RuntimeRefused, and BadValue for what cannot stand in one line."""
    command = f"add ssl crt-list {argument(name)}"
    if not options and not filters:
        command, payload = f"{command} {argument(file)}", None
    else:
        payload = " ".join([file, *([f"[{options}]"] if options else []), *filters])
        if _UNFIT.search(payload):
            raise BadValue("an entry of a crt-list is one line")
    answer = await runtime.send(command, payload)
    if not _ADDED.search(answer):
        raise refused(answers.first_words(answer), command)


async def delete(runtime: Runtime, name: str, file: str, line: int | None = None) -> None:
    """Raises RuntimeRefused, also where the certificate has several entries and no line says which."""
    which = argument(file) + (f":{line}" if line else "")
    command = f"del ssl crt-list {argument(name)} {which}"
    answer = await runtime.send(command)
    if not _DELETED.search(answer):
        raise refused(answers.first_words(answer), command)
